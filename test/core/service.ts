import { type Answer, type FailureKind, failureOf } from '../../src/core/failure.ts';
import type { StartedRun } from '../../src/core/ports.ts';
import { type Automation, isSameAutomation } from '../../src/core/run.ts';
import { hourMs } from '../../src/core/time.ts';
import type { Command } from './commands.ts';
import type { Time } from './time.ts';

/** How a service treats idempotency keys. Nobody knows yet which of these the real one is. */
export interface Traits {
  looksFirstFor: 'key' | 'active run';
  /** A key that was refused is refused ever after. */
  storesRefusals: boolean;
  /** While the first request with a key is in progress, a second one gets a 409. Else it waits. */
  hasConflicts: boolean;
  replaysFirstResponse: boolean;
  /** A key belongs to one automation. Else another automation gets the run of the first. */
  isKeyOfAutomation: boolean;
  ignoresKeys: boolean;
  runMs: number;
}

/** What becomes of one request to trigger. */
export interface Condition {
  /** When it gets to the service. Undefined: never. */
  arrivesMs?: number;
  /** How long the service works on it. */
  worksMs?: number;
  /** The service refuses it. */
  refusal?: FailureKind;
  /** The service starts the run, and answers, and replays, that it couldn't. */
  isBroken?: boolean;
  /** What the client gets in place of the service's answer. */
  reply?: FailureKind;
  retryAfterMs?: number;
}

/** One request to trigger. */
export interface Request {
  command: Command;
  automation: Automation;
  key: string;
  sentMs: number;
  /** By its machine's time of day. */
  sentNowMs: number;
  /** What the command got. */
  answer?: Answer<StartedRun>;
}

export interface ServiceRun {
  executionId: string;
  automation: Automation;
  endsMs: number;
  /** Undefined: somebody else started it. */
  request: Request | undefined;
}

interface KnownKey {
  sinceMs: number;
  run?: ServiceRun;
  isInProgress: boolean;
  answer: Promise<Answer<StartedRun>>;
}

/** Services say a day. A request that arrives late is no reason to forget a key sooner. */
const rememberedMs = 25 * hourMs;

export function createService(traits: Traits, time: Time) {
  const runs: ServiceRun[] = [];
  const keys = new Map<string, KnownKey>();

  function start(automation: Automation, request?: Request): ServiceRun {
    const executionId = `run-${runs.length + 1}`;
    const run = { executionId, automation, endsMs: time.nowMs() + traits.runMs, request };
    runs.push(run);
    return run;
  }

  const isActive = ({ endsMs }: ServiceRun) => time.nowMs() < endsMs;
  const refused = (kind: FailureKind) => ({ ok: false as const, failure: failureOf(kind) });
  const accepted = ({ executionId }: ServiceRun, status: string) => ({
    ok: true as const,
    value: { executionId, document: { executionId, status } },
  });

  async function replay(known: KnownKey, { automation }: Request): Promise<Answer<StartedRun>> {
    if (known.isInProgress && traits.hasConflicts) return refused('in_progress');
    const answer = await known.answer;
    if (!answer.ok || !known.run) return answer;
    // The client sees the other name in it.
    if (!isSameAutomation(known.run.automation, automation)) return refused('invalid_response');
    if (traits.replaysFirstResponse) return answer;
    return accepted(known.run, isActive(known.run) ? 'RUNNING' : 'COMPLETED');
  }

  async function work(known: KnownKey, request: Request, { worksMs = 20, isBroken }: Condition) {
    await new Promise<void>((resolve) => time.after(worksMs, resolve));
    known.run = start(request.automation, request);
    known.isInProgress = false;
    return isBroken ? refused('server_error') : accepted(known.run, 'RUNNING');
  }

  async function trigger(request: Request, condition: Condition): Promise<Answer<StartedRun>> {
    const { command, automation, key } = request;
    const id = `${command.use.apiKey} ${traits.isKeyOfAutomation ? automation.projectId : ''} ${key}`;
    const stored = traits.ignoresKeys ? undefined : keys.get(id);
    const isKnown = stored && time.nowMs() - stored.sinceMs <= rememberedMs;
    const isBusy = runs.some(
      (run) => isActive(run) && isSameAutomation(run.automation, automation),
    );
    if (isBusy && traits.looksFirstFor === 'active run') return refused('already_active');
    if (isKnown) return replay(stored, request);

    const refusal = isBusy ? 'already_active' : condition.refusal;
    const known = { sinceMs: time.nowMs(), isInProgress: !refusal } as KnownKey;
    known.answer = refusal ? Promise.resolve(refused(refusal)) : work(known, request, condition);
    if (!refusal || traits.storesRefusals) keys.set(id, known);
    return known.answer;
  }

  return { runs, start, trigger };
}
