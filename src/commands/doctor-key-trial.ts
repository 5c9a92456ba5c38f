import type { Connection } from '../connection/connection.ts';
import { createRecorder } from '../journal/recorder.ts';
import { searchHint } from '../messages/in-doubt-diagnostics.ts';
import { diagnosticOf } from '../messages/outcome-diagnostics.ts';
import { exitNameOfSignal, isSignalExitName } from '../run/exit-codes.ts';
import { exitNameOfOutcome, factsOf } from '../run/exit-of.ts';
import { deliveryOf, type Fault, isRetryable, reasonOf } from '../run/fault.ts';
import type { Outcome } from '../run/outcome.ts';
import { Problem } from '../run/problem.ts';
import { quotedName } from '../run/quote.ts';
import { isSameId, type Run, randomUuid, type Target } from '../run/run.ts';
import type { RunSnapshot } from '../run/service.ts';
import type { Trigger } from '../run/trigger.ts';
import { type LastAnswer, retry } from '../service/retry.ts';
import { outcomeInDoubt } from '../start/outcome-in-doubt.ts';
import { outcomeWithoutRun } from '../start/outcome-without-run.ts';
import { sendTrigger } from '../start/send-trigger.ts';
import { stopwatch } from '../system/clock.ts';
import { waitForActiveRun } from '../watch/watch-run.ts';

/** What the trial has shown about the service. */
export interface KeyTrial {
  /** The response to the trigger. */
  started?: RunSnapshot;
  /** The refusal of the repeat, because that run was active. */
  refusal?: Fault;
  /** How that run finished; it is waited for only after that refusal. */
  ended?: RunSnapshot;
  /** The response to the repeat. */
  repeated?: RunSnapshot;
  /** Why it isn't known what the service does with the idempotency key. */
  problem?: Problem;
}

/** Whether the repeated trigger returned the run of the first one. */
export const isHonoredIn = ({ started, repeated }: KeyTrial): boolean =>
  isSameId(started?.executionId, repeated?.executionId);

/**
 * Finds out what the service does with an idempotency key that it has seen. Starts a run and
 * repeats the trigger at once, and again after the run's end if the repeat is refused because the
 * run is active. Starts two runs at most, because an attempt that the service may have acted on
 * isn't repeated. Each step is a sentence for `report`.
 */
export async function tryKey(
  target: Target,
  report: (sentence: string) => void,
  connection: Connection,
): Promise<KeyTrial> {
  const trigger = await newTrigger(target, connection);
  const first = await startFirst(trigger, connection);
  if (first instanceof Problem) return { problem: first };
  const { run, started } = first;
  const name = quotedName(target);
  report(
    `started run ${run.executionId} of ${name}; repeating the trigger with the same idempotency key`,
  );
  const repeated = await repeatUntilKnown(trigger, first, report, connection);
  return { started, ...repeated };
}

/** The run of the first trigger, and the response that started it. */
interface FirstRun {
  run: Run;
  started: RunSnapshot;
}

/** Sends the first trigger. Returns the problem if it has no run. */
async function startFirst(trigger: Trigger, connection: Connection): Promise<FirstRun | Problem> {
  // An attempt that may have started a run isn't repeated, so that there are two runs at most.
  const { result } = await sendTrigger(trigger, { mayRepeatAfterLoss: false }, connection);
  if (result.kind !== 'has_run') {
    const outcome =
      result.kind === 'no_run'
        ? outcomeWithoutRun(result, trigger, connection)
        : outcomeInDoubt(result.reason, trigger, connection);
    return problemWithoutRun(outcome, connection);
  }
  const { response, executionId } = result;
  if (!response) throw new Error('another process has the same generated key');
  // The response to the trigger shows that the settings are right.
  connection.session.noteValidResponse();
  return { run: { target: trigger.target, executionId }, started: response.snapshot };
}

/**
 * Repeats the trigger. If the repeat is refused because the run is active, repeats it once more
 * after the run's end.
 */
async function repeatUntilKnown(
  trigger: Trigger,
  { run, started }: FirstRun,
  report: (sentence: string) => void,
  connection: Connection,
): Promise<Omit<KeyTrial, 'started'>> {
  const { clock, journal, processes, signal } = connection;
  const sinceTriggerMs = stopwatch(clock);
  const recorder = createRecorder(journal, {
    ...trigger,
    wasSentBefore: true,
    process: processes.own,
  });
  const answer = await repeat(trigger, recorder, connection);
  if (answer.kind === 'ok' || answer.fault.kind !== 'already_active') return conclude(answer);
  const refusal = answer.fault;
  report(
    'the repeat was refused because that run is active; it is repeated once more after the run finishes',
  );
  const polled = await waitForActiveRun({ run, sinceTriggerMs }, connection);
  if (polled.kind === 'ended') {
    const { end, lastConfirmed } = polled;
    const outcome: Outcome = { kind: 'watch_ended', run, end, lastConfirmed };
    const diagnostic = diagnosticOf(outcome, connection.hintContext);
    const reason = `the run couldn't be followed to its end: ${diagnostic?.message}`;
    return { refusal, problem: unclearProblem(reason, signal) };
  }
  const secondAnswer = await repeat(trigger, recorder, connection);
  return { refusal, ended: polled.snapshot, ...conclude(secondAnswer) };

  /** Records the run of the last repeat, or says why it has none. */
  function conclude(last: LastAnswer<RunSnapshot>): Pick<KeyTrial, 'repeated' | 'problem'> {
    if (last.kind === 'fault')
      return { problem: unclearProblem(reasonWithoutRepeat(last, trigger.target), signal) };
    const repeated = last.value;
    // Recorded as a replay, this repeat doesn't count as a later run of the target
    // (`Journal.hasLaterRun`).
    const attribution = isHonoredIn({ started, repeated }) ? 'recorded_run' : 'generated_key';
    recorder.accepted(repeated, attribution);
    return { repeated };
  }
}

async function newTrigger(target: Target, connection: Connection): Promise<Trigger> {
  const { baseUrl } = connection;
  const idempotencyKey = randomUuid();
  const account = await connection.account(idempotencyKey);
  return { baseUrl, account, target, idempotencyKey, userProvided: false, body: '{}' };
}

/** Repeats a trigger until it may have reached the service, and records how that ended. */
async function repeat(
  trigger: Trigger,
  recorder: ReturnType<typeof createRecorder>,
  connection: Connection,
): Promise<LastAnswer<RunSnapshot>> {
  const { service, signal } = connection;
  recorder.triggered();
  const answer = await retry(() => service.trigger(trigger, signal), {
    ...connection,
    priority: 'trigger',
    isRetryable: (fault) => isRetryable(fault) && deliveryOf(fault) !== 'unknown',
  });
  if (answer.kind === 'ok') return answer;
  if (deliveryOf(answer.fault) === 'unknown') recorder.inDoubt(answer.fault, { isLast: true });
  else recorder.refused(answer.fault);
  return answer;
}

/** Why the repeat doesn't show what the service does with idempotency keys. */
function reasonWithoutRepeat(
  { fault, isInterrupted }: { fault: Fault; isInterrupted?: boolean },
  target: Target,
): string {
  if (deliveryOf(fault) === 'unknown') {
    const name = quotedName(target);
    return `the repeat got no valid response: ${reasonOf(fault)}; it may have started a second run of ${name}, which only the service can show`;
  }
  return isInterrupted ? 'interrupted' : `the repeat didn't return a run: ${reasonOf(fault)}`;
}

function unclearProblem(reason: string, signal: AbortSignal): Problem {
  const name = signal.aborted ? exitNameOfSignal(signal) : 'outcome_unknown';
  const message = `couldn't find out whether the service honors idempotency keys: ${reason}`;
  return new Problem({ name, message });
}

/** A refused trigger says nothing about idempotency keys. */
function problemWithoutRun(outcome: Outcome, { hintContext }: Connection): Problem {
  const name = exitNameOfOutcome(outcome);
  const diagnostic = diagnosticOf(outcome, hintContext) ?? { message: name };
  const { fault } = factsOf(outcome);
  if (outcome.kind === 'in_doubt') {
    // To send it again would be safe only if the service honors keys.
    const hint = `${searchHint(outcome.target, outcome.inDoubt)}, then try again`;
    return new Problem({ ...diagnostic, hint, needsPerson: true, name, fault, started: 'unknown' });
  }
  const problem = new Problem({ ...diagnostic, name, fault });
  if (isSignalExitName(name)) return problem;
  const hint = name === 'already_active' ? 'try again when that run has finished' : diagnostic.hint;
  return problem.with({ name: 'outcome_unknown', shownName: name, hint });
}
