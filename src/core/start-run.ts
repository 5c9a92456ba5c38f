import { type Failure, failureOf, rowOf } from './failure.ts';
import type { Ports, Trigger } from './ports.ts';
import type { NotStartedReport, RunReport, Started, UnknownReport } from './report.ts';
import { retry } from './retry.ts';
import { dayMs } from './time.ts';

export interface StartOptions {
  /** How long to go on without a valid answer. */
  patienceMs: number;
  /** Until when, by `clock.elapsedMs`. */
  deadlineMs: number;
  ifActive: 'fail' | 'skip' | 'wait';
  /** Fixes the pause between the tries of `wait`. */
  intervalMs?: number;
  /** The service ignores idempotency keys, so nothing that may have started a run is sent again. */
  areKeysIgnored: boolean;
  /** The trigger is unknown already, and was first sent then (in milliseconds since 1970). */
  unknownSinceAtMs?: number;
}

export type StartReport = RunReport | NotStartedReport | UnknownReport;

const firstWaitMs = 15_000;
const maxWaitMs = 60_000;

/** Starts one run at most, whatever gets lost on the way, and with `wait` once no other is active. */
export async function startRun(
  first: Trigger,
  options: StartOptions,
  ports: Ports,
): Promise<StartReport> {
  const { deadlineMs, ifActive } = options;
  const { clock, signal } = ports;
  let firstSentAtMs = options.unknownSinceAtMs ?? clock.nowMs();
  let repeats = options.unknownSinceAtMs !== undefined;
  let trigger = first;
  for (let tries = 0; ; tries++) {
    const report = await sendTrigger(trigger, { firstSentAtMs, repeats }, options, ports);
    const isActive = report.kind === 'not_started' && report.failure.kind === 'already_active';
    if (!isActive || ifActive === 'fail') return report;
    if (ifActive === 'skip') return { ...report, isSkipped: true };

    const delayMs = waitMs(report.failure, tries, deadlineMs - clock.elapsedMs(), options);
    if (delayMs === undefined) return report;
    ports.emit({ type: 'waiting', run: { automation: trigger.automation } });
    await clock.sleep(delayMs, signal);
    if (signal.aborted) return { ...report, failure: failureOf('interrupted') };
    repeats = false; // it was refused, so it is unknown no more
    // Another command may have sent a given key since, so its day began with the first try.
    if (!trigger.isKeyGiven) {
      firstSentAtMs = clock.nowMs();
      trigger = { ...trigger, idempotencyKey: ports.newKey() };
    }
  }
}

/** How long to wait before the next try. Undefined if there is no time for it. */
function waitMs(
  { retryAfterMs = 0 }: Failure,
  tries: number,
  leftMs: number,
  { intervalMs }: StartOptions,
): number | undefined {
  if (leftMs <= 0 || retryAfterMs > leftMs) return undefined;
  const gapMs = intervalMs ?? Math.min(firstWaitMs * 1.2 ** tries, maxWaitMs);
  return Math.min(Math.max(gapMs, retryAfterMs), leftMs);
}

/**
 * Sends a trigger until it is accepted, refused, or unknown for good. Each command records before
 * it sends, and looks into the journal after a refusal (`settle`), so that of two commands with one
 * key the later one sees the other.
 */
async function sendTrigger(
  trigger: Trigger,
  { firstSentAtMs, repeats }: { firstSentAtMs: number; repeats: boolean },
  options: StartOptions,
  ports: Ports,
): Promise<StartReport> {
  const { automation, isKeyGiven } = trigger;
  const { patienceMs, deadlineMs, areKeysIgnored } = options;
  const { recorder, clock, service, signal } = ports;
  // Only of a key that this command minted it is sure that this command started the run.
  const started = isKeyGiven || repeats ? 'unknown' : 'yes';
  const startedMs = clock.elapsedMs();
  const { sentId, isWritten } = await recorder.appendSent(trigger, { repeats });
  const settled = repeats && (await lookBeforeRepeating(trigger, sentId, isWritten, ports));
  if (settled) return settled;

  let attempts = 0;
  let firstUnknown: Failure | undefined;
  const answer = await retry(
    async (timeoutMs) => {
      attempts++;
      const attempt = await service.trigger(trigger, timeoutMs);
      if (!attempt.ok && rowOf(attempt.failure).effect === 'unknown') {
        firstUnknown ??= attempt.failure;
      }
      return attempt;
    },
    {
      run: { automation },
      patienceMs,
      deadlineMs,
      mayRetry: (failure) => rowOf(failure).retry && !(areKeysIgnored && firstUnknown),
      // Services forget an idempotency key after a day.
      mayAttempt: () => Math.abs(clock.nowMs() - firstSentAtMs) <= dayMs,
    },
    ports,
  );
  if (answer.ok) {
    const { executionId, document } = answer.value;
    await recorder.appendAccepted(trigger, executionId);
    return { ...runReport(trigger, executionId, started), document };
  }

  const isCutShort = signal.aborted && rowOf(answer.failure).retry;
  const last = isCutShort ? failureOf('interrupted') : answer.failure;
  const tookMs = clock.elapsedMs() - startedMs;
  const sending = { sentId, isWritten, started, firstUnknown, last, attempts, tookMs } as const;
  return settle(trigger, sending, options, ports);
}

/** How a trigger was sent that nobody has accepted. */
interface Sending {
  sentId: string;
  isWritten: boolean;
  /** Whether this command started the run, if there is one after all. */
  started: Started;
  /** What the first attempt got that may have started a run. */
  firstUnknown: Failure | undefined;
  last: Failure;
  attempts: number;
  tookMs: number;
}

/**
 * A refusal counts only if no attempt may have started a run, and if no `sent` of the key is open
 * after it is recorded: another command may have sent the key, too.
 */
async function settle(
  trigger: Trigger,
  { sentId, isWritten, started, firstUnknown, last, attempts, tookMs }: Sending,
  { ifActive, areKeysIgnored }: StartOptions,
  { recorder }: Ports,
): Promise<StartReport> {
  if (!firstUnknown) {
    const isListed = last.kind !== 'already_active' || ifActive === 'fail';
    await recorder.appendRefused(trigger, sentId, { why: last, isListed });
  }
  const look = await recorder.look(trigger);
  if (look?.executionId) return runReport(trigger, look.executionId, attempts > 0 ? started : 'no');
  // If the journal can't be read, this or another command's `sent` may be open in it.
  const mayBeOpen = look ? look.openSents.length > 0 : isWritten || trigger.isKeyGiven;
  if (!firstUnknown && !mayBeOpen) return notStartedReport(trigger, last);
  return {
    ...unknownReport(trigger, firstUnknown),
    ...(areKeysIgnored && keysIgnored),
    last,
    attempts,
    tookMs,
    isRecorded: isWritten,
  };
}

/** A repetition is only sent if it is on disk, and if the trigger was still unknown before it. */
async function lookBeforeRepeating(
  trigger: Trigger,
  sentId: string,
  isWritten: boolean,
  { recorder }: Ports,
): Promise<StartReport | undefined> {
  const look = isWritten ? await recorder.look(trigger) : undefined;
  if (!look) {
    const reason = "the journal can't be written, so it isn't sent again";
    return { ...unknownReport(trigger), last: failureOf('not_repeated', { reason }) };
  }
  if (look.executionId) return runReport(trigger, look.executionId, 'no');
  if (look.openSents.includes(sentId)) return undefined;
  return notStartedReport(trigger, failureOf('not_repeated'));
}

/** Nobody knows what would come of sending it again. */
export const keysIgnored = {
  notSentBecause: 'idempotency keys are ignored',
  remedy: 'look',
} as const;

const triggerFacts = ({ automation, idempotencyKey, isKeyGiven }: Trigger, started: Started) => ({
  automation,
  trigger: { started, idempotencyKey, isKeyGiven },
});

export const runReport = (trigger: Trigger, executionId: string, started: Started): RunReport => ({
  kind: 'run',
  ...triggerFacts(trigger, started),
  executionId,
});

const notStartedReport = (trigger: Trigger, why: Failure): NotStartedReport => ({
  kind: 'not_started',
  ...triggerFacts(trigger, 'no'),
  failure: why,
});

/** Without a failure if only the journal tells of the trigger. */
export const unknownReport = (
  trigger: Trigger,
  why = failureOf('no_response', { reason: 'no response named its run' }),
): UnknownReport => ({ kind: 'unknown', ...triggerFacts(trigger, 'unknown'), failure: why });
