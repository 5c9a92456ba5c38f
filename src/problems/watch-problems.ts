import { formatDuration } from '../runs/duration.ts';
import type { LastConfirmed } from '../runs/events.ts';
import { type Fault, type FaultKind, isInterruption } from '../runs/fault.ts';
import { nameOf, type Run } from '../runs/run.ts';
import type { FinishedWatch, UnfinishedWatch, WatchResult } from '../runs/watch-result.ts';
import { type ExitName, exitNameOfStatus } from './exit-codes.ts';
import { comeBack, exitNameOf, factsOf, interruptNameOf, remedies } from './fault-facts.ts';
import { Problem } from './problem.ts';

/** The problem that a watch ended with; undefined where the run has finished and its result, if any, was read. */
export function watchProblem(watched: WatchResult, signal: AbortSignal): Problem | undefined {
  switch (watched.kind) {
    case 'finished':
      return watched.resultFault && resultProblem(watched, watched.resultFault, signal);
    case 'timed_out':
      return timeoutProblem(watched);
    case 'gave_up':
      return giveUpProblem(watched);
    case 'refused':
      return pollProblem(watched.fault, 'status', watched.run);
    case 'interrupted':
      return interruptedProblem(watched, watched.run);
  }
}

/** How a program that watched this run ends; `problem` is one that came after it. */
export function exitNameOfWatch(watched: WatchResult, problem: Problem | undefined): ExitName {
  if (problem) return problem.facts.name;
  return exitNameOfStatus(watched.execution?.status ?? '');
}

/** A request for the status or the result of a run that was refused, or whose retries ended. */
export function pollProblem(fault: Fault, operation: 'status' | 'result', run: Run): Problem {
  const meanings: Partial<Record<FaultKind, string>> = {
    not_found: `there is no run ${run.executionId} under ${nameOf(run.target)}`,
    path_not_found: `there is no run ${run.executionId} under ${nameOf(run.target)}, or the base URL is wrong`,
    unauthorized: 'the key was refused; the run itself is not touched',
  };
  const meaning = meanings[fault.kind] ?? `the ${operation} could not be read; the run itself is not touched`;
  const remedy = remedies[fault.kind] ?? (fault.kind === 'not_found' ? notFoundHint : again(operation, run));
  return new Problem({
    ...factsOf(fault),
    name: exitNameOf(fault),
    message: `${fault.message}: ${meaning}`,
    hint: fault.hint ?? comeBack(fault) ?? remedy,
  });
}

const notFoundHint = 'check the id, the project and the automation name; `runctl list` shows the runs known here';
const again = (command: string, { executionId }: Run) => `ask again with \`runctl ${command} ${executionId}\``;

const lastSeen = ({ execution, ageMs = 0 }: LastConfirmed) =>
  execution ? `last seen ${execution.status} ${formatDuration(ageMs)} ago` : 'its state was never confirmed';

const resume = ({ executionId }: Run) => `follow it again with \`runctl watch ${executionId}\``;

/** No valid answer for `giveUpAfterMs`, or the service asks for a longer wait than is left of it. */
function giveUpProblem(watched: Extract<UnfinishedWatch, { kind: 'gave_up' }>): Problem {
  const { fault, run } = watched;
  const wait = comeBack(fault);
  const limit = formatDuration(watched.giveUpAfterMs);
  const happened = wait
    ? `${fault.message}, and the wait it asks for outlasts \`--give-up-after\` (${limit})`
    : `no good answer for ${limit} (${fault.message})`;
  return new Problem({
    ...factsOf(fault),
    name: 'unavailable',
    message: `${happened}: the run may still be going, ${lastSeen(watched)}`,
    hint: wait ? `${wait}; ${resume(run)}` : (fault.hint ?? resume(run)),
  });
}

/** `--timeout` passed, or will have by the time at which the service wants the next request. */
function timeoutProblem(watched: Extract<UnfinishedWatch, { kind: 'timed_out' }>): Problem {
  const { fault, run } = watched;
  const limit = formatDuration(watched.timeoutMs);
  const wait = fault && comeBack(fault);
  const happened = wait ? `${fault.message}, and the limit of ${limit} passes first` : `the limit of ${limit} passed`;
  return new Problem({
    ...(fault && factsOf(fault)),
    name: 'watch_timeout',
    message: `${happened}: the run goes on, ${lastSeen(watched)}`,
    hint: wait ? `${wait}; ${resume(run)}` : resume(run),
  });
}

/** The run has finished, and its result cannot be read or was not waited for. */
function resultProblem({ run, execution }: FinishedWatch, fault: Fault, signal: AbortSignal): Problem {
  const { status } = execution;
  if (isInterruption(fault)) {
    const message = `interrupted: the run ended ${status}, its result was not read`;
    return new Problem({ name: interruptNameOf(signal), message, hint: again('result', run) });
  }
  const tooLarge = `read it whole with \`runctl result ${run.executionId} --max-output 512MiB\``;
  return new Problem({
    ...factsOf(fault),
    name: 'result_unavailable',
    message: `the run ended ${status}, but its result could not be read: ${fault.message}`,
    hint: fault.kind === 'too_large' ? tooLarge : (fault.hint ?? comeBack(fault) ?? again('result', run)),
  });
}

/** The user ended the command; the run, if there is one, is left alone. `interrupt` is the signal or has its reason. */
export function interruptedProblem(interrupt: { reason: unknown }, run?: Run): Problem {
  const name = interruptNameOf(interrupt);
  if (!run) return new Problem({ name, message: 'interrupted' });
  return new Problem({ name, message: 'interrupted: the run goes on', hint: resume(run) });
}
