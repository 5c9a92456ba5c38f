import { waitForOther } from '../actions/follow-run.ts';
import { createFollowing, type Following } from '../actions/following.ts';
import { planOf } from '../actions/plan.ts';
import { sendTrigger } from '../actions/send-trigger.ts';
import { problemOfTrigger } from '../actions/unknown-trigger.ts';
import { parseAutomationArgument } from '../connection/arguments.ts';
import { connect } from '../connection/connect.ts';
import { retryPortsOf } from '../connection/connection.ts';
import { argumentOf } from '../connection/followable.ts';
import { hasJournal } from '../connection/open-journal.ts';
import type { Invocation } from '../context.ts';
import { createTriggerRecord } from '../journal/trigger-recorder.ts';
import { documentOf } from '../output/document.ts';
import { type CommandResult, type OutputOptions, printSentence, wantsData } from '../output/output.ts';
import { watchProblem } from '../problems/watch-problems.ts';
import { interruptNameOf, isInterruptName } from '../run/exit-codes.ts';
import { deliveryOf, type Fault, httpOf, isRetryable, reasonOf } from '../run/fault.ts';
import { defaults } from '../run/limits.ts';
import { Problem, usageProblem } from '../run/problem.ts';
import { nameOf, type Run, randomUuid, type Target } from '../run/run.ts';
import type { Execution, StartedExecution } from '../run/service.ts';
import { retry } from '../service/retry.ts';
import { profileFlag } from '../settings/profile.ts';
import { need, type SettingFlags, type Settings } from '../settings/resolve.ts';
import { defaultProfile, valueIfGiven } from '../settings/table.ts';
import type { KeyTreatment } from '../settings/values.ts';
import { stopwatch } from '../system/clock.ts';
import type { TriggerIdentity } from '../triggering/send-until-known.ts';
import type { TriggerRecord } from '../triggering/trigger-record.ts';
import type { WatchResult } from '../watching/watch-result.ts';
import { type Finding, type Found, failed, findingLines, ok, reportOf, warning } from './finding.ts';

/** What the service has shown. */
interface KeyTrial {
  started?: StartedExecution; // the response to the trigger
  conflict?: Fault; // the refusal of the repeat, because that run was active
  ended?: Execution; // how that run finished; it is waited for only after a conflict
  repeated?: StartedExecution; // the response to the repeat
  problem?: Problem; // why it isn't known what the service does with the idempotency key
}

const body = '{}';
/** Without flags. */
const plan = planOf({});

/**
 * Finds out what the service does with an idempotency key that it has seen. Starts a run and repeats the trigger at once,
 * and again after the run's end if the repeat is refused because the run is active. Starts two runs at most, because an
 * attempt that the service may have acted on isn't repeated.
 */
async function tryKey(target: Target, say: (sentence: string) => void, following: Following): Promise<KeyTrial> {
  const { baseUrl, context, journal, processes } = following;
  const idempotencyKey = randomUuid();
  const account = await following.account(idempotencyKey);
  const identity: TriggerIdentity = { baseUrl, account, target, idempotencyKey, userProvided: false };
  const first = await sendTrigger(identity, body, { isRepeatable: false }, following);
  if (first.kind === 'recorded') throw new Error('another process has the same generated key');
  if (first.kind !== 'started') return { problem: unclearProblem(problemOfTrigger(first, identity, following)) };
  const trial: KeyTrial = { started: first.run };
  const sinceTriggerMs = stopwatch(context.clock);
  // The response to the trigger shows that the settings are right.
  following.watches.answered();
  const run: Run = { target, executionId: first.run.executionId };
  const record = createTriggerRecord(journal, { ...identity, body, isRepeat: true, process: processes.own });
  const unclear = (why: string) => ({ ...trial, problem: unclearTrial(why, context) });

  say(`started run ${run.executionId} of ${nameOf(target)}; repeating the trigger with the same idempotency key`);
  let answer = await repeat(identity, record, following);
  if (answer.kind !== 'ok' && answer.fault.kind === 'already_active') {
    trial.conflict = answer.fault;
    say('the repeat was refused because that run is active; it is repeated once more when the run has finished');
    const watched = await waitForOther({ run, sinceTriggerMs }, plan, following);
    if (watched.kind !== 'finished') return unclear(unseenEnd(watched, run, following));
    trial.ended = watched.execution;
    answer = await repeat(identity, record, following);
  }
  if (answer.kind !== 'ok') return unclear(whyUnrepeated(answer, target));
  trial.repeated = answer.value;
  record.started(answer.value, isHonoredIn(trial) ? 'recorded_run' : 'generated_key');
  return trial;
}

/** Sends the trigger again, and once more for each answer that surely started no run. */
async function repeat({ target, idempotencyKey }: TriggerIdentity, record: TriggerRecord, following: Following) {
  const { service, context } = following;
  record.sending();
  const repeated = await retry(() => service.trigger({ target, idempotencyKey, body }, context.signal), {
    lane: 'trigger',
    ...retryPortsOf(following, defaults.giveUpAfterMs),
    isRetryable: (fault) => isRetryable(fault) && deliveryOf(fault) !== 'unknown',
  });
  if (repeated.kind === 'ok') return repeated;
  if (deliveryOf(repeated.fault) === 'unknown') record.inDoubt(repeated.fault, { isLast: true });
  else record.refused(repeated.fault);
  return repeated;
}

function whyUnrepeated({ kind, fault }: { kind: string; fault: Fault }, target: Target): string {
  if (deliveryOf(fault) === 'unknown') {
    const second = `it may have started a second run of ${nameOf(target)}`;
    return `the repeat got no valid response: ${reasonOf(fault)}; ${second}, which only the service can show`;
  }
  return kind === 'interrupted' ? 'interrupted' : `the repeat didn't return a run: ${reasonOf(fault)}`;
}

function unseenEnd(watched: WatchResult, run: Run, following: Following): string {
  const { context } = following;
  const argument = argumentOf(run, following);
  const problem = watchProblem(watched, context.signal, { argument, hasJournal: hasJournal(context) });
  const why = problem ? `: ${problem.message}` : '';
  return `the run's end wasn't seen${why}`;
}

function unclearTrial(why: string, { signal }: Invocation): Problem {
  const name = signal.aborted ? interruptNameOf(signal) : 'outcome_unknown';
  return new Problem({ name, message: `couldn't find out whether the service honors idempotency keys: ${why}` });
}

const isHonoredIn = ({ started, repeated }: KeyTrial) =>
  started?.executionId.toLowerCase() === repeated?.executionId.toLowerCase();

/** A refused trigger says nothing about idempotency keys. */
function unclearProblem(problem: Problem): Problem {
  const { name } = problem.facts;
  if (name === 'outcome_unknown' || isInterruptName(name)) return problem;
  const hint = name === 'already_active' ? 'try again when that run has finished' : problem.facts.hint;
  return problem.with({ name: 'outcome_unknown', shownName: name, hint });
}

/** Tries an idempotency key, and exits with 0 if it could be seen what the service does with it, else with 12. */
export async function showKeyTrial(
  automation: string,
  options: SettingFlags & OutputOptions & { yes?: boolean },
  context: Invocation,
): Promise<CommandResult> {
  const connection = await connect(options, context);
  const target = parseAutomationArgument(automation, () => need('project', connection.settings));
  if (!options.yes && !(await isConfirmed(nameOf(target), context))) return { note: 'Nothing was sent.' };
  const say = (sentence: string) => {
    if (!options.quiet && !wantsData(options)) printSentence(sentence, context);
  };
  const trial = await tryKey(target, say, createFollowing(connection, plan));
  const { started, problem } = trial;
  const run = started && { target, executionId: started.executionId };
  const findings = findingsOf(trial, connection.settings);
  // What failed is said as the problem.
  const shown = findings.filter(({ result }) => result !== 'failed');
  return {
    exitNames: [problem?.facts.name ?? 'ok'],
    documents: [documentOf({ target, run, problem, report: { doctor: reportOf(findings) } }, context)],
    problems: problem && [{ problem }],
    text: (theme, lines) => findingLines(shown, theme, lines),
  };
}

async function isConfirmed(name: string, context: Invocation): Promise<boolean> {
  const what = `this starts one run of ${name}, or two if the service ignores idempotency keys`;
  if (!context.stdin().isTTY || !context.stderr.isTTY) throw usageProblem(what, 'add `--yes` to allow it');
  const { askLine } = await import('../settings/prompts.ts');
  const answer = await askLine(`${what[0]?.toUpperCase()}${what.slice(1)}. Continue? [y/N] `, context);
  return /^y(es)?$/i.test(answer.trim());
}

/** One for each assumption of docs/service.md that the trial had to do with. */
function findingsOf(trial: KeyTrial, settings: Settings): Finding[] {
  const { started, conflict, ended, problem } = trial;
  const findings: Finding[] = [];
  if (started) findings.push({ name: 'new_run', ...newRun(started) });
  if (started && conflict) findings.push({ name: 'active_run', ...activeRun(conflict, started) });
  if (ended) findings.push({ name: 'run_status', ...ok(`the run finished ${ended.status}`) });
  findings.push({ name: 'idempotency_keys', ...(problem ? failed(problem) : keysFound(trial, settings)) });
  return findings;
}

function newRun({ executionId, status, isFinal }: StartedExecution): Found {
  const message = `the response to the trigger names run ${executionId}, which is ${status}`;
  return isFinal ? warning(`${message}, though it is new`) : ok(message);
}

function activeRun(conflict: Fault, { executionId }: StartedExecution): Found {
  const refusal = `while the run was active, a trigger was refused${httpOf(conflict)}`;
  return conflict.executionId?.toLowerCase() === executionId.toLowerCase()
    ? ok(`${refusal}, and the response named the run`)
    : warning(
        `${refusal}, but the response didn't name the run`,
        "`--if-active wait` and messages know an active run only from this machine's journal",
      );
}

function keysFound(trial: KeyTrial, settings: Settings): Found {
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

/** How to make the setting say what the service does; undefined if it does. */
function lineThatSets(treatment: KeyTreatment, { idempotencyKeys, profile }: Settings): string | undefined {
  if (valueIfGiven(idempotencyKeys) === treatment) return undefined;
  const where = profileFlag(profile.value ?? defaultProfile);
  const command = `runctl config set idempotencyKeys ${treatment}${where}`;
  return `\`${command}\`, or RUNCTL_IDEMPOTENCY_KEYS=${treatment} where no config file is kept`;
}
