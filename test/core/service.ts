import { type Answer, type FailureKind, failure } from '../../src/run/failure.ts';
import type { StartedRun } from '../../src/run/ports.ts';
import { type Automation, isSameAutomation, type Run, type RunStatus } from '../../src/run/run.ts';
import { hourMs, type Time } from './time.ts';

/** How a service treats idempotency keys. Nobody knows which of these is the real one. */
export interface ServiceTraits {
  looksFirstFor: 'key' | 'active run';
  /** A key that was refused is refused for ever. */
  storesRefusals: boolean;
  /** A second request with a key gets a 409 while the first is in progress, else it waits. */
  hasConflicts: boolean;
  replays: 'first response' | 'current state';
  /** A key belongs to its automation, else it gets that automation's run from any other. */
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
  /** The service refuses it, if the key has no run. */
  refusal?: FailureKind;
  /** The service starts the run and then answers, and replays, that it couldn't. */
  isBroken?: boolean;
  /** What the client gets in place of the service's answer. */
  reply?: FailureKind;
  retryAfterMs?: number;
}

/** One request to trigger, as a command sent it. */
export interface Request {
  /** The command's place among the commands of the history. */
  by: number;
  apiKey: string;
  automation: Automation;
  key: string;
  sentMs: number;
  /** By the machine's time of day, which can be set. */
  sentNowMs: number;
  /** What the command got. */
  answer?: Answer<StartedRun>;
}

export interface ServiceRun {
  executionId: string;
  automation: Automation;
  endsAtMs: number;
  /** Undefined: it was started by somebody else. */
  request?: Request;
}

interface KnownKey {
  sinceMs: number;
  automation: Automation;
  run?: ServiceRun;
  answer: Promise<Answer<StartedRun>>;
  isSettled: boolean;
}

/** Services say a day. Requests that arrive late are no reason to forget a key sooner. */
const rememberedMs = 25 * hourMs;

export function createService(traits: ServiceTraits, time: Time) {
  const runs: ServiceRun[] = [];
  const keys = new Map<string, KnownKey>();
  const wait = (ms: number) => new Promise<void>((resolve) => time.after(ms, resolve));

  function start(automation: Automation, request?: Request): ServiceRun {
    const run = {
      executionId: `run-${runs.length + 1}`,
      automation,
      endsAtMs: time.nowMs() + traits.runMs,
      request,
    };
    runs.push(run);
    return run;
  }

  const isActive = ({ endsAtMs }: ServiceRun) => time.nowMs() < endsAtMs;
  const statusOf = (run: ServiceRun) => (isActive(run) ? 'RUNNING' : 'COMPLETED');

  function status({ executionId }: Run): Answer<RunStatus> {
    const run = runs.find((each) => each.executionId === executionId);
    if (!run) return refused('not_found');
    const status = statusOf(run);
    return { ok: true, value: { status, isFinal: status !== 'RUNNING', document: {} } };
  }
  const refused = (kind: FailureKind) => ({ ok: false as const, failure: failure(kind) });
  const accepted = ({ executionId }: ServiceRun, status: string): Answer<StartedRun> => ({
    ok: true,
    value: { executionId, document: { executionId, status } },
  });

  async function replay(known: KnownKey, { automation }: Request): Promise<Answer<StartedRun>> {
    if (!known.isSettled && traits.hasConflicts) return refused('in_progress');
    const answer = await known.answer;
    if (!answer.ok || !known.run) return answer;
    // The client sees another automation's name in it.
    if (!isSameAutomation(known.automation, automation)) return refused('invalid_response');
    return traits.replays === 'first response' ? answer : accepted(known.run, statusOf(known.run));
  }

  async function work(known: KnownKey, request: Request, condition: Condition) {
    await wait(condition.worksMs ?? 20);
    known.run = start(request.automation, request);
    known.isSettled = true;
    return condition.isBroken ? refused('server_error') : accepted(known.run, 'RUNNING');
  }

  async function trigger(request: Request, condition: Condition): Promise<Answer<StartedRun>> {
    const { apiKey, automation, key } = request;
    const scope = traits.isKeyOfAutomation ? `${automation.projectId}/${automation.name}` : '';
    const id = `${apiKey} ${scope} ${key}`;
    const stored = traits.ignoresKeys ? undefined : keys.get(id);
    const isKnown = stored && time.nowMs() - stored.sinceMs <= rememberedMs;
    const busy = runs.some((run) => isActive(run) && isSameAutomation(run.automation, automation));
    if (traits.looksFirstFor === 'active run' && busy) return refused('already_active');
    if (isKnown) return replay(stored, request);

    const known = { sinceMs: time.nowMs(), automation, isSettled: false } as KnownKey;
    const refusal = busy ? 'already_active' : condition.refusal;
    if (refusal) {
      const answer = refused(refusal);
      const settled = { ...known, isSettled: true, answer: Promise.resolve(answer) };
      if (traits.storesRefusals) keys.set(id, settled);
      return answer;
    }
    keys.set(id, known);
    known.answer = work(known, request, condition);
    return known.answer;
  }

  return { runs, start, status, trigger };
}
