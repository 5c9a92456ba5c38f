import { argument, choice, defineCommand, flag, type OptionValues, option } from '../cli/define-command.ts';
import { startOptions } from '../cli/options.ts';
import { errorTypeNames, whole } from '../cli/values.ts';
import { requireProject } from '../config/settings.ts';
import { type Context, endedBy } from '../context.ts';
import { errorTypes } from '../problems/next-step.ts';
import { Problem, usageProblem } from '../problems/problem.ts';
import { noRunProblem } from '../problems/trigger-problems.ts';
import { documentOf, identityOf } from '../render/document.ts';
import { wantsData } from '../render/output.ts';
import type { Reporter } from '../render/reporter.ts';
import { formatDuration } from '../runs/duration.ts';
import type { Ending } from '../runs/follow.ts';
import type { FollowEvent } from '../runs/follow-event.ts';
import { pause } from '../runs/pause.ts';
import { nameOf, type Target } from '../runs/run.ts';
import { parseAutomationArgument } from '../session/arguments.ts';
import { type Connection, connect } from '../session/connect.ts';
import { followRun, reporterFor } from '../session/follow-run.ts';
import { createEarlyWord, type Outcome, tellOutcomes } from '../session/report.ts';
import { type Start, startRun } from '../session/start-run.ts';

const defaultReruns = 1;

const options = {
  watch: flag('-w, --watch', 'follow the run to its end, then print its summary'),
  ifActive: choice(
    '--if-active <what>',
    'where a run is active: fail with 5, skip with 0, wait for its end and then start, or attach to it (default: fail)',
    ['fail', 'skip', 'wait', 'attach'],
  ),
  rerunOn: option(
    '--rerun-on <types>',
    `with --watch: start again after these error types (${errorTypes.join(', ')})`,
    errorTypeNames,
  ),
  maxReruns: option('--max-reruns <n>', `how often at the most (default: ${defaultReruns})`, whole(0, 1000)),
  ...startOptions,
};

export type TriggerOptions = OptionValues<typeof options>;

export const trigger = defineCommand({
  name: 'trigger',
  about: 'start a run now; with --watch, follow it to its end',
  arguments: { automations: argument('<automation...>', 'name, or <projectId>/<name>') },
  options,
  examples: [
    ['id=$(runctl trigger nightly)', 'starts a run and keeps its id'],
    ['runctl trigger nightly --watch', 'starts a run and ends with its exit code'],
    ['runctl trigger a b c --watch', 'three runs side by side'],
    ['runctl trigger nightly --if-active skip', 'all is well where it is running already'],
    ['runctl trigger nightly --idempotency-key "nightly-$(date +%F)"', 'one run a day, however often it is typed'],
    ['runctl trigger nightly --watch --rerun-on lease_lost,reaped', 'again, if its environment was lost'],
  ],
  async run({ automations: names }, options, context) {
    if (names.length > 1 && options.idempotencyKey !== undefined) {
      throw usageProblem('--idempotency-key names one run, so it goes with one automation');
    }
    checkWatchFlags(options);
    const connection = await connect(options, context);
    const project = () => requireProject(connection.settings);
    const requests = names.map((name) => ({ target: parseAutomationArgument(name, project), body: '{}' }));
    return triggerAll(requests, options, connection, context);
  },
});

export interface StartRequest {
  target: Target;
  /** The exact bytes of the request's body. */
  body: string;
}

/** Refuses the flags that would be of no effect. */
export function checkWatchFlags(options: TriggerOptions): void {
  const needsWatch = [
    options.events && '--events',
    options.rerunOn && '--rerun-on',
    options.maxReruns !== undefined && '--max-reruns',
    options.onFinal && '--on-final',
    options.bell && '--bell',
  ];
  const [lonely] = needsWatch.filter(Boolean);
  if (lonely && !options.watch) throw usageProblem(`${lonely} goes with --watch`);
}

/** Starts each request side by side, and tells of them in the order of the arguments. */
export async function triggerAll(
  requests: StartRequest[],
  flags: TriggerOptions,
  connection: Connection,
  context: Context,
): Promise<number> {
  const options = { ...flags, runs: requests.length };
  const reporter = await reporterFor(options, connection, context);
  try {
    await splay(options.splayMs, reporter, context);
    // On stdout ids stand in the order of the arguments, unless stdout is for the run's end or for other data.
    const idsAreData = !options.watch && !wantsData(options);
    const inOrder = createInOrder();
    const watching = endedBy(context, context.stdout.closed);
    const tellEarly = createEarlyWord(reporter, options.watch ? requests.length : 0);
    const outcomes = await Promise.all(
      requests.map(async (request, index): Promise<Outcome> => {
        const outcome = await outcomeAt(request, index);
        tellEarly(outcome);
        return outcome;
      }),
    );
    const { hintProject: project } = connection;
    return await tellOutcomes(outcomes, { ...options, project, plural: requests.length > 1 }, reporter, context);

    async function outcomeAt(request: StartRequest, index: number): Promise<Outcome> {
      let start: Start | undefined;
      try {
        start = await startRun(request, options, connection, reporter, context);
        const tell = () => start && tellStart(start, idsAreData, reporter, context);
        if (idsAreData) inOrder(index, tell);
        else tell();
        if (start.kind === 'skipped') reporter.notStarted?.(request.target);
        const followed = options.watch && start.kind !== 'skipped';
        const ending = followed
          ? await followWithReruns(request, start, options, connection, reporter, watching)
          : undefined;
        const problem = ending ? ending.problem : 'problem' in start ? start.problem : undefined;
        return outcomeOf(request.target, start, ending, problem);
      } catch (error) {
        inOrder(index, () => {});
        if (!(error instanceof Problem)) throw error;
        if (!start) reporter.notStarted?.(request.target, error);
        return outcomeOf(request.target, start, undefined, error);
      }
    }
  } finally {
    reporter.stop();
  }
}

/** Follows a started run; one that ended with an error type of `--rerun-on` is started again, with a new key. */
async function followWithReruns(
  request: StartRequest,
  first: Start,
  options: TriggerOptions,
  connection: Connection,
  reporter: Reporter,
  context: Context,
): Promise<Ending | undefined> {
  let start = first;
  let ending: Ending | undefined;
  let hasStarted = false;
  const observe = (event: FollowEvent) =>
    reporter.observe(event.event === 'problem' ? { ...event, problem: truthOf(event.problem) } : event);
  // What becomes of a later run does not undo that an earlier one was started.
  const truthOf = (problem: Problem) => (hasStarted ? problem.with({ started: 'yes' }) : problem);
  for (let reruns = 1; start.kind !== 'skipped'; reruns++) {
    const { run, execution, triggeredAtMs, kind } = start;
    hasStarted ||= kind === 'started';
    observe({ event: 'triggered', run, execution, replayed: kind === 'replayed' });
    const known = kind === 'started' ? execution : undefined;
    ending = await followRun({ run, triggeredAtMs, known }, options, connection, { observe }, context);
    if (ending.problem) ending = { ...ending, problem: truthOf(ending.problem) };
    const errorType = ending.result?.error?.type;
    const again = !ending.problem && errorType !== undefined && options.rerunOn?.includes(errorType);
    if (!again || reruns > (options.maxReruns ?? defaultReruns)) return ending;
    const { idempotencyKey } = options;
    // A user's idempotency key gets the number of the rerun, so that the whole command can be repeated safely.
    const flags = { ...options, idempotencyKey: idempotencyKey && `${idempotencyKey}.${reruns}` };
    try {
      start = await startRun(request, flags, connection, reporter, context);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      observe({ event: 'problem', run, problem: error });
      return { ...ending, problem: truthOf(error) };
    }
    if (start.kind !== 'skipped')
      reporter.say(`${nameOf(run.target)} ended with ${errorType}: started again as ${start.run.executionId}`);
  }
  return ending;
}

async function splay(
  splayMs: number | undefined,
  { say }: Reporter,
  { random, clock, signal }: Context,
): Promise<void> {
  if (!splayMs) return;
  const waitMs = random() * splayMs;
  say(`waiting ${formatDuration(waitMs)} before starting`);
  await pause(waitMs, clock, signal);
  if (signal.aborted) throw noRunProblem(signal);
}

/** The id, the moment it is known: on stdout where ids are what is asked for. */
function tellStart(start: Start, idsAreData: boolean, { say }: Reporter, { stdout }: Context): void {
  if (start.kind === 'skipped') {
    say(`${nameOf(start.target)} is already running: skipped, no run was started`);
    return;
  }
  const { executionId, target } = start.run;
  const sentences = {
    started: `started a run of ${nameOf(target)}`,
    replayed: `this key has started a run of ${nameOf(target)} before: no new run was started`,
    attached: `${nameOf(target)} is already running: this is the active run`,
  };
  const sentence = sentences[start.kind];
  if (idsAreData) {
    stdout.write(`${executionId}\n`);
    say(`${sentence}; follow it with \`runctl watch ${executionId}\``);
  } else {
    say(`${sentence}: ${executionId}`);
  }
}

function outcomeOf(target: Target, start: Start | undefined, ending: Ending | undefined, problem?: Problem): Outcome {
  const about = nameOf(target);
  const identity = identityOf(target);
  if (!start) return { about, document: { ...identity, ...documentOf({ problem }) }, problem };
  if (start.kind === 'skipped') {
    return { about, document: { executionId: start.activeId ?? null, ...identity, skipped: true } };
  }
  const document = {
    ...documentOf({ ...start, ...ending, problem }),
    ...(start.kind === 'replayed' && { replayed: true }),
    ...(start.kind === 'attached' && { attached: true }),
  };
  return { about, document, ending, problem };
}

/** Runs actions in the order of their indices, each as soon as all before it have run. */
function createInOrder(): (index: number, action: () => void) => void {
  const waiting = new Map<number, () => void>();
  let next = 0;
  return (index, action) => {
    if (index < next || waiting.has(index)) return;
    waiting.set(index, action);
    for (let ready = waiting.get(next); ready; ready = waiting.get(next)) {
      ready();
      next += 1;
    }
  };
}
