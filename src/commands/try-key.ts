import { parseAutomationArgument } from '../connection/arguments.ts';
import { connect } from '../connection/connect.ts';
import type { Connection } from '../connection/connection.ts';
import type { Invocation } from '../context.ts';
import { createRecorder } from '../journal/recorder.ts';
import { searchHint } from '../messages/of-in-doubt.ts';
import { diagnosticOf } from '../messages/of-outcome.ts';
import { printSentence } from '../output/print-message.ts';
import { type OutputOptions, type Result, wantsData } from '../output/result.ts';
import { exitNameOfSignal, isSignalExitName } from '../run/exit-codes.ts';
import { factsOf, outcomeNameOf } from '../run/exit-of.ts';
import { deliveryOf, type Fault, httpOf, isRetryable, reasonOf } from '../run/fault.ts';
import { defaults } from '../run/limits.ts';
import type { Outcome } from '../run/outcome.ts';
import { Problem, usageProblem } from '../run/problem.ts';
import { automationNameOf, isSameId, type Run, randomUuid, type Target } from '../run/run.ts';
import type { RunSnapshot } from '../run/service.ts';
import type { Trigger } from '../run/trigger.ts';
import { retry } from '../service/retry.ts';
import { profileFlag } from '../settings/profile.ts';
import { need, type SettingFlags, type Settings } from '../settings/resolve.ts';
import { defaultProfile, valueIfGiven } from '../settings/table.ts';
import type { KeyTreatment } from '../settings/values.ts';
import { outcomeWithoutRun } from '../start/outcome-of-trigger.ts';
import { sendTrigger } from '../start/send-trigger.ts';
import { stopwatch } from '../system/clock.ts';
import { waitForActiveRun } from '../watch/watch-run.ts';
import {
  type CheckResult,
  type Finding,
  failed,
  findingLines,
  ok,
  reportOf,
  warning,
} from './finding.ts';

/** What the trial has shown about the service. */
interface KeyTrial {
  /** The response to the trigger. */
  started?: RunSnapshot;
  /** The refusal of the repeat, because that run was active. */
  conflict?: Fault;
  /** How that run finished; it is waited for only after a conflict. */
  ended?: RunSnapshot;
  /** The response to the repeat. */
  repeated?: RunSnapshot;
  /** Why it isn't known what the service does with the idempotency key. */
  problem?: Problem;
}

/**
 * Finds out what the service does with an idempotency key that it has seen. Starts a run and
 * repeats the trigger at once, and again after the run's end if the repeat is refused because the
 * run is active. Starts two runs at most, because an attempt that the service may have acted on
 * isn't repeated.
 */
async function tryKey(
  target: Target,
  say: (sentence: string) => void,
  connection: Connection,
): Promise<KeyTrial> {
  const { baseUrl, clock, journal, processes, service, signal } = connection;
  const idempotencyKey = randomUuid();
  const account = await connection.account(idempotencyKey);
  const trigger: Trigger = {
    baseUrl,
    account,
    target,
    idempotencyKey,
    userProvided: false,
    body: '{}',
  };
  const first = await sendTrigger(trigger, { honorsKeys: false }, connection);
  if (first.kind !== 'has_run')
    return { problem: unclearProblem(outcomeWithoutRun(first, trigger, connection), connection) };
  if (!first.response) throw new Error('another process has the same generated key');
  const trial: KeyTrial = { started: first.response.snapshot };
  const sinceTriggerMs = stopwatch(clock);
  // The response to the trigger shows that the settings are right.
  connection.session.answered();
  const run: Run = { target, executionId: first.executionId };
  const record = createRecorder(journal, {
    ...trigger,
    wasSentBefore: true,
    process: processes.own,
  });
  say(
    `started run ${run.executionId} of ${automationNameOf(target)}; repeating the trigger with the same idempotency key`,
  );
  let answer = await repeat();
  if (answer.kind !== 'ok' && answer.fault.kind === 'already_active') {
    trial.conflict = answer.fault;
    say(
      'the repeat was refused because that run is active; it is repeated once more after the run finishes',
    );
    const polled = await waitForActiveRun({ run, sinceTriggerMs }, connection);
    if (polled.kind === 'ended') {
      const { end, lastConfirmed } = polled;
      const diagnostic = diagnosticOf(
        { kind: 'watch_ended', run, end, lastConfirmed },
        connection.hintContext,
      );
      return {
        ...trial,
        problem: unclear(`the run couldn't be followed to its end: ${diagnostic?.message}`, signal),
      };
    }
    trial.ended = polled.snapshot;
    answer = await repeat();
  }
  if (answer.kind !== 'ok')
    return { ...trial, problem: unclear(unrepeated(answer, target), signal) };
  trial.repeated = answer.value;
  record.started(answer.value, isHonoredIn(trial) ? 'recorded_run' : 'generated_key');
  return trial;

  async function repeat() {
    record.sending();
    const repeated = await retry(() => service.trigger(trigger, signal), {
      ...connection,
      priority: 'trigger',
      isRetryable: (fault) => isRetryable(fault) && deliveryOf(fault) !== 'unknown',
    });
    if (repeated.kind === 'ok') return repeated;
    if (deliveryOf(repeated.fault) === 'unknown') record.inDoubt(repeated.fault, { isLast: true });
    else record.refused(repeated.fault);
    return repeated;
  }
}

/** Why the repeat doesn't show what the service does with idempotency keys. */
function unrepeated(
  { fault, isInterrupted }: { fault: Fault; isInterrupted?: boolean },
  target: Target,
): string {
  const second = `it may have started a second run of ${automationNameOf(target)}, which only the service can show`;
  if (deliveryOf(fault) === 'unknown')
    return `the repeat got no valid response: ${reasonOf(fault)}; ${second}`;
  return isInterrupted ? 'interrupted' : `the repeat didn't return a run: ${reasonOf(fault)}`;
}

function unclear(reason: string, signal: AbortSignal): Problem {
  const name = signal.aborted ? exitNameOfSignal(signal) : 'outcome_unknown';
  return new Problem({
    name,
    message: `couldn't find out whether the service honors idempotency keys: ${reason}`,
  });
}

const isHonoredIn = ({ started, repeated }: KeyTrial) =>
  isSameId(started?.executionId, repeated?.executionId);

/** A refused trigger says nothing about idempotency keys. */
function unclearProblem(outcome: Outcome, { hintContext }: Connection): Problem {
  const name = outcomeNameOf(outcome);
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

/**
 * Tries an idempotency key, and exits with 0 if it could be seen what the service does with it,
 * else with 12.
 */
export async function showKeyTrial(
  automation: string,
  options: SettingFlags & OutputOptions & { yes?: boolean },
  context: Invocation,
): Promise<Result> {
  const connection = await connect({ ...options, timeout: defaults.timeoutMs }, context);
  const target = parseAutomationArgument(automation, () => need('project', connection.settings));
  const isAllowed = options.yes || (await isConfirmed(automationNameOf(target), context));
  if (!isAllowed) return { forPeople: { note: 'Nothing was sent.' } };
  const say = (sentence: string) => {
    if (!options.quiet && !wantsData(options)) printSentence(sentence, context);
  };
  const trial = await tryKey(target, say, connection);
  const { started, problem } = trial;
  const findings = findingsOf(trial, connection.settings);
  // The finding that failed is printed as the problem of the outcome, so the list leaves it out.
  const shown = findings.filter(({ result }) => result !== 'failed');
  const subject = started ? { run: { target, executionId: started.executionId } } : { target };
  const fields = { doctor: reportOf(findings) };
  const outcome: Outcome = problem
    ? { kind: 'problem', problem, ...subject, fields }
    : { kind: 'info', ...subject, fields };
  return {
    outcomes: [outcome],
    forPeople: { text: (theme, lines) => findingLines(shown, theme, lines) },
  };
}

async function isConfirmed(name: string, context: Invocation): Promise<boolean> {
  const what = `this starts one run of ${name}, or two if the service ignores idempotency keys`;
  if (!context.stdin().isTTY || !context.stderr.isTTY)
    throw usageProblem(what, 'add `--yes` to allow it');
  const { askLine } = await import('../settings/prompts.ts');
  const answer = await askLine(
    `${what[0]?.toUpperCase()}${what.slice(1)}. Continue? [y/N] `,
    context,
  );
  return /^y(es)?$/i.test(answer.trim());
}

/** One finding for each assumption of docs/service.md that the trial could check. */
function findingsOf(trial: KeyTrial, settings: Settings): Finding[] {
  const { started, conflict, ended, problem } = trial;
  const findings: Finding[] = [];
  if (started) findings.push({ name: 'new_run', ...newRun(started) });
  if (started && conflict) findings.push({ name: 'active_run', ...activeRun(conflict, started) });
  if (ended) findings.push({ name: 'run_status', ...ok(`the run finished ${ended.status}`) });
  findings.push({
    name: 'idempotency_keys',
    ...(problem ? failed(problem) : keysFound(trial, settings)),
  });
  return findings;
}

function newRun({ executionId, status, isFinal }: RunSnapshot): CheckResult {
  const message = `the response to the trigger names run ${executionId}, which is ${status}`;
  return isFinal ? warning(`${message}, though it is new`) : ok(message);
}

function activeRun(conflict: Fault, { executionId }: RunSnapshot): CheckResult {
  const refusal = `while the run was active, a trigger was refused${httpOf(conflict)}`;
  return isSameId(conflict.executionId, executionId)
    ? ok(`${refusal}, and the response named the run`)
    : warning(
        `${refusal}, but the response didn't name the run`,
        "`--if-active wait` and messages know an active run only from this machine's journal",
      );
}

function keysFound(trial: KeyTrial, settings: Settings): CheckResult {
  const ids = [trial.started, trial.repeated].map((each) => each?.executionId);
  if (isHonoredIn(trial)) {
    const message = `honored: the repeated trigger returned the same run (${ids[0]})`;
    const line = lineThatSets('honored', settings);
    return line ? warning(message, line) : ok(`${message}; nothing to set`);
  }
  const before = 'triggers that were repeated before may have started two runs';
  const message = `ignored: the repeated trigger started a second run (${ids.join(', then ')}); ${before}`;
  return warning(message, lineThatSets('ignored', settings));
}

/** How to change the setting so that it agrees with the service. Undefined if it already does. */
function lineThatSets(
  treatment: KeyTreatment,
  { idempotencyKeys, profile }: Settings,
): string | undefined {
  if (valueIfGiven(idempotencyKeys) === treatment) return undefined;
  const where = profileFlag(profile.value ?? defaultProfile);
  const command = `runctl config set idempotencyKeys ${treatment}${where}`;
  return `set RUNCTL_IDEMPOTENCY_KEYS=${treatment}, or store it: \`${command}\``;
}
