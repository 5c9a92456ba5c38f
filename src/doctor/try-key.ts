import { waitForOther } from '../actions/follow-run.ts';
import { createFollowing, type Following } from '../actions/following.ts';
import { planOf } from '../actions/plan.ts';
import { sendTrigger } from '../actions/send-trigger.ts';
import { problemOfTrigger } from '../actions/unknown-trigger.ts';
import { need, type SettingFlags } from '../config/settings.ts';
import { parseAutomationArgument } from '../connection/arguments.ts';
import { connect } from '../connection/connect.ts';
import { retryPortsOf } from '../connection/connection.ts';
import { argumentOf } from '../connection/followable.ts';
import { hasJournal } from '../connection/open-journal.ts';
import type { Invocation } from '../context.ts';
import { createTriggerRecord } from '../journal/trigger-recorder.ts';
import { interruptNameOf, isInterruptName } from '../problems/exit-codes.ts';
import { Problem, usageProblem } from '../problems/problem.ts';
import { watchProblem } from '../problems/watch-problems.ts';
import { documentOf } from '../render/document.ts';
import { type CommandResult, type OutputOptions, printSentence, wantsData } from '../render/output.ts';
import { stopwatch } from '../runs/clock.ts';
import { defaults } from '../runs/defaults.ts';
import { deliveryOf, type Fault, isRetryable, reasonOf } from '../runs/fault.ts';
import { retry } from '../runs/retry.ts';
import { nameOf, type Run, randomUuid, type Target } from '../runs/run.ts';
import type { KeyTreatment } from '../runs/service.ts';
import type { TriggerIdentity } from '../triggering/send-until-known.ts';
import type { WatchResult } from '../watching/watch-result.ts';
import { honored, ignored } from './check-journal.ts';
import { type Finding, failed, findingLine } from './finding.ts';

type KeyTrial = { runs: Run[] } & (
  | { kind: 'seen'; treatment: KeyTreatment }
  /** What the service does with the key couldn't be determined. */
  | { kind: 'unclear'; problem: Problem }
);

const body = '{}';
/** Without flags. */
const plan = planOf({}, 'trigger');

/**
 * Finds out what the service does with an idempotency key that it has seen. Starts a run and repeats the trigger at once,
 * and again after the run's end if the repeat is refused because the run is active. Starts two runs at most, because an
 * attempt that the service may have acted on isn't repeated.
 */
export async function tryKey(target: Target, say: (sentence: string) => void, following: Following): Promise<KeyTrial> {
  const { baseUrl, context, journal, processes, service } = following;
  const { signal } = context;
  const idempotencyKey = randomUuid();
  const account = await following.account(idempotencyKey);
  const identity: TriggerIdentity = { baseUrl, account, target, idempotencyKey, userProvided: false };
  const first = await sendTrigger(identity, body, { isRepeatable: () => false }, following);
  if (first.kind === 'recorded') throw new Error('another process has the same generated key');
  if (first.kind !== 'started') {
    return { kind: 'unclear', runs: [], problem: unclearProblem(problemOfTrigger(first, identity, following)) };
  }
  const sinceTriggerMs = stopwatch(context.clock);
  // The response to the trigger shows that the settings are right.
  following.watches.answered();
  const run: Run = { target, executionId: first.run.executionId };
  const record = createTriggerRecord(journal, { ...identity, body, isRepeat: true, process: processes.own });
  say(`started run ${run.executionId} of ${nameOf(target)}; repeating the trigger with the same idempotency key`);
  let repeated = await repeat();
  if (repeated.kind !== 'ok' && repeated.fault.kind === 'already_active') {
    say('the repeat was refused because that run is active; it is repeated once more when the run has finished');
    const watched = await waitForOther({ run, sinceTriggerMs }, plan, following);
    if (watched.kind !== 'finished') return unclear(unseenEnd(watched));
    repeated = await repeat();
  }
  if (repeated.kind !== 'ok' && deliveryOf(repeated.fault) === 'unknown') return unclear(lostRepeat(repeated.fault));
  if (repeated.kind === 'interrupted') return unclear('interrupted');
  if (repeated.kind !== 'ok') return unclear(`the repeat didn't return a run: ${reasonOf(repeated.fault)}`);
  const { executionId } = repeated.value;
  const isSame = executionId.toLowerCase() === run.executionId.toLowerCase();
  record.started(repeated.value, isSame ? 'recorded_run' : 'generated_key');
  const runs = isSame ? [run] : [run, { target, executionId }];
  return { kind: 'seen', treatment: isSame ? 'honored' : 'ignored', runs };

  async function repeat() {
    record.sending();
    const repeated = await retry(() => service.trigger({ target, idempotencyKey, body }, signal), {
      lane: 'trigger',
      ...retryPortsOf(following, defaults.triggerGiveUpAfterMs),
      isRetryable: (fault) => isRetryable(fault) && deliveryOf(fault) !== 'unknown',
    });
    if (repeated.kind === 'ok') return repeated;
    if (deliveryOf(repeated.fault) === 'unknown') record.inDoubt(repeated.fault, { isLast: true });
    else record.refused(repeated.fault);
    return repeated;
  }

  function lostRepeat(fault: Fault): string {
    const second = `it may have started a second run of ${nameOf(target)}`;
    return `the repeat got no valid response: ${reasonOf(fault)}; ${second}, which only the service can show`;
  }

  function unseenEnd(watched: WatchResult): string {
    const problem = watchProblem(watched, signal, {
      argument: argumentOf(run, following),
      hasJournal: hasJournal(context),
    });
    return `the run's end wasn't seen${problem ? `: ${problem.message}` : ''}`;
  }

  function unclear(why: string): KeyTrial {
    const name = signal.aborted ? interruptNameOf(signal) : 'outcome_unknown';
    const message = `couldn't find out whether the service honors idempotency keys: ${why}`;
    return { kind: 'unclear', runs: [run], problem: new Problem({ name, message }) };
  }
}

/** A refused trigger says nothing about idempotency keys. */
function unclearProblem(problem: Problem): Problem {
  const { name } = problem.facts;
  if (name === 'outcome_unknown' || isInterruptName(name)) return problem;
  const hint = name === 'already_active' ? 'try again when that run has finished' : problem.facts.hint;
  return problem.with({ name: 'outcome_unknown', shownName: name, hint });
}

type TrialOptions = SettingFlags & OutputOptions & { yes?: boolean };

/** Tries an idempotency key, and exits with 0 if it could be seen what the service does with it, else with 12. */
export async function showKeyTrial(
  automation: string,
  options: TrialOptions,
  context: Invocation,
): Promise<CommandResult> {
  const connection = await connect(options, context);
  const target = parseAutomationArgument(automation, () => need('project', connection.settings));
  if (!options.yes && !(await isConfirmed(nameOf(target), context))) return { note: 'Nothing was sent.' };
  const say = (sentence: string) => {
    if (!options.quiet && !wantsData(options)) printSentence(sentence, context);
  };
  const trial = await tryKey(target, say, createFollowing(connection, plan));
  const finding = findingOf(trial);
  const problem = trial.kind === 'unclear' ? trial.problem : undefined;
  const [run] = trial.runs;
  const { exitName: _, advice = null, ...shown } = finding;
  return {
    exitNames: [problem?.facts.name ?? 'ok'],
    documents: [documentOf({ target, run, problem, report: { doctor: [{ ...shown, advice }] } }, context)],
    problems: problem && [{ problem }],
    text: (theme, lines) => (problem ? '' : findingLine(finding, theme, lines)),
    note: trial.kind === 'seen' && !options.quiet ? settingNote(trial.treatment) : undefined,
  };
}

/** The line that says the same on machines whose journal doesn't last. */
const settingNote = (treatment: KeyTreatment) =>
  `This machine's journal has it now. In CI and in containers, where the journal doesn't last, set RUNCTL_IDEMPOTENCY_KEYS=${treatment}, or run \`runctl config set idempotencyKeys ${treatment}\`.`;

async function isConfirmed(name: string, context: Invocation): Promise<boolean> {
  const what = `this starts one run of ${name}, or two if the service ignores idempotency keys`;
  if (!context.stdin().isTTY || !context.stderr.isTTY) throw usageProblem(what, 'add `--yes` to allow it');
  const { askLine } = await import('../config/prompts.ts');
  const answer = await askLine(`${what[0]?.toUpperCase()}${what.slice(1)}. Continue? [y/N] `, context);
  return /^y(es)?$/i.test(answer.trim());
}

function findingOf(trial: KeyTrial): Finding {
  if (trial.kind === 'unclear') return failed('idempotency_keys', trial.problem);
  const [first, second] = trial.runs.map(({ executionId }) => executionId);
  if (trial.treatment === 'honored') return honored(`honored: the repeated trigger returned the same run (${first})`);
  return ignored(`ignored: the repeated trigger started a second run (${first}, then ${second})`);
}
