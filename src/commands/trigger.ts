import { requireProject } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { usageProblem } from '../problems/problem.ts';
import { noRunProblem } from '../problems/trigger-problems.ts';
import { wantsData } from '../render/output.ts';
import { pause } from '../runs/clock.ts';
import { defaults } from '../runs/defaults.ts';
import { formatDuration } from '../runs/duration.ts';
import { nameOf } from '../runs/run.ts';
import type { ArgumentResult, FollowedArgument } from '../session/argument-result.ts';
import { parseAutomationArgument } from '../session/arguments.ts';
import { type ConnectOptions, connect } from '../session/connect.ts';
import { type FollowFlags, followRun } from '../session/follow-run.ts';
import { createEarlyReport, reportResults } from '../session/report.ts';
import { type Session, sessionEndedBy, withReporter } from '../session/session.ts';
import { type StartFlags, type StartRequest, type StartResult, startRun } from '../session/start-run.ts';
import { expectLongWatch } from '../v8-flags.ts';

export interface TriggerOptions extends ConnectOptions, StartFlags, FollowFlags {
  watch?: boolean;
  splayMs?: number;
  /** Error types after which a watched run is started again. */
  rerunOn?: string[];
  maxReruns?: number;
}

/** `runctl trigger <automation>…`: starts runs now; with `--watch`, follows them to their end. */
export async function trigger(names: string[], options: TriggerOptions, context: Context): Promise<number> {
  if (names.length > 1 && options.idempotencyKey !== undefined) {
    throw usageProblem('--idempotency-key names one run, so it goes with one automation');
  }
  checkWatchFlags(options);
  const session = await connect(options, context);
  const project = () => requireProject(session.settings);
  const requests = names.map((name) => ({ target: parseAutomationArgument(name, project), body: '{}' }));
  return triggerAll(requests, options, session);
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

/** Starts each request side by side, and reports them in the order of the arguments. */
export async function triggerAll(requests: StartRequest[], options: TriggerOptions, base: Session): Promise<number> {
  const session = await withReporter(base, options, requests.length);
  const { context, reporter } = session;
  if (options.watch) expectLongWatch();
  try {
    await splay(options.splayMs, session);
    // On stdout ids stand in the order of the arguments, unless stdout is for the end of the run or for other data.
    const idsAreData = !options.watch && !wantsData(options);
    const inOrder = createInOrder();
    const watching = sessionEndedBy(session, context.stdout.closed);
    const reportEarly = createEarlyReport(session, options.watch ? requests.length : 0);
    const results = await Promise.all(
      requests.map(async (request, index): Promise<ArgumentResult> => {
        const start = await startRun(request, options, session);
        const report = () => reportStart(start, idsAreData, session);
        if (idsAreData) inOrder(index, report);
        else report();
        if (start.kind === 'skipped') reporter.notStarted?.(request.target);
        if (start.kind === 'failed') reporter.notStarted?.(request.target, start.problem);
        const isFollowed = options.watch && start.kind !== 'skipped' && start.kind !== 'failed';
        const result = isFollowed ? await followWithReruns(request, start, options, watching) : start;
        reportEarly(result);
        return result;
      }),
    );
    return await reportResults(results, { ...options, plural: requests.length > 1 }, session);
  } finally {
    reporter.stop();
  }
}

type Run = Exclude<StartResult, { kind: 'skipped' | 'failed' }>;

/** Follows a run; one that ended with an error type of `--rerun-on` is started again, with a new idempotency key. */
async function followWithReruns(
  request: StartRequest,
  first: Run,
  options: TriggerOptions,
  session: Session,
): Promise<FollowedArgument> {
  const { reporter } = session;
  const { idempotencyKey, maxReruns = defaults.maxReruns } = options;
  const found = first.kind === 'started' ? undefined : first.kind;
  let start = first;
  let hasStarted = false;
  for (let reruns = 1; ; reruns++) {
    const { run, triggeredAtMs, kind } = start;
    hasStarted ||= kind === 'started';
    const execution = executionOf(start);
    reporter.observe({ event: 'triggered', run, execution, replayed: kind === 'replayed' });
    const known = kind === 'started' ? execution : undefined;
    const followed = await followRun({ run, triggeredAtMs, known }, options, session, { hasStarted });
    const result = { kind: 'followed', ...followed, found } as const;
    const { watched, problem } = followed;
    const errorType = watched.kind === 'finished' ? watched.result?.error?.type : undefined;
    const again = !problem && errorType !== undefined && options.rerunOn?.includes(errorType);
    if (!again || reruns > maxReruns) return result;
    // A user's idempotency key gets the number of the rerun, so that the whole command can be repeated safely.
    const flags = { ...options, idempotencyKey: idempotencyKey && `${idempotencyKey}.${reruns}` };
    const next = await startRun(request, flags, session);
    if (next.kind === 'skipped') return result;
    if (next.kind === 'failed') {
      // A rerun that fails does not undo that an earlier run was started.
      const truth = hasStarted ? next.problem.with({ started: 'yes' }) : next.problem;
      reporter.observe({ event: 'problem', run, problem: truth });
      return { ...result, problem: truth };
    }
    start = next;
    reporter.say(`${nameOf(run.target)} ended with ${errorType}: started again as ${start.run.executionId}`);
  }
}

function executionOf(start: Run) {
  if (start.kind === 'started') return start.execution;
  return start.polled.kind === 'ok' ? start.polled.value : undefined;
}

/** Waits a random time. Throws a `Problem` when the signal ends it. */
async function splay(splayMs: number | undefined, { reporter, context }: Session): Promise<void> {
  if (!splayMs) return;
  const { random, clock, signal } = context;
  const waitMs = random() * splayMs;
  reporter.say(`waiting ${formatDuration(waitMs)} before starting`);
  await pause(waitMs, clock, signal);
  if (signal.aborted) throw noRunProblem(signal);
}

/** The id, the moment it is known: on stdout where ids are what is asked for. */
function reportStart(start: StartResult, idsAreData: boolean, { reporter, context }: Session): void {
  if (start.kind === 'failed') return;
  if (start.kind === 'skipped') {
    reporter.say(`${nameOf(start.target)} is already running: skipped, no run was started`);
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
    context.stdout.write(`${executionId}\n`);
    reporter.say(`${sentence}; follow it with \`runctl watch ${executionId}\``);
  } else {
    reporter.say(`${sentence}: ${executionId}`);
  }
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
