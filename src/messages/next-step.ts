import { automationArgumentOf, shellWord } from '../run/quote.ts';
import { fullNameOf, type Run } from '../run/run.ts';
import type { RunStatus } from '../run/service.ts';
import { isKnownStatus, isSuccess } from '../run/statuses.ts';

const lostEnvironment =
  "the run lost its environment, which isn't the Automation's fault; start a new run:";

/** What the user can do about each error type of a result (docs/service.openapi.json). */
const remedies: Record<string, string> = {
  step_failed: 'fix the failing step, then:',
  timed_out: 'runs are limited to 3 hours; split the work, then:',
  not_runnable: 'fix the Automation, then:',
  lease_lost: lostEnvironment,
  reaped: lostEnvironment,
  run_failed: 'start a new run:',
};

const remedyOfErrorType = (type: string): string =>
  (Object.hasOwn(remedies, type) && remedies[type]) || 'start a new run:';

/**
 * A sentence that says what to do about a failed run. Undefined if there is nothing to do.
 * `project` is the project of a name without one.
 */
export function nextStepOf(
  { target }: Run,
  { status, isFinal }: RunStatus,
  errorType = '',
  project?: string,
): string | undefined {
  // For a status that this version doesn't know, there is no advice.
  if (!isFinal || isSuccess(status) || !isKnownStatus(status)) return undefined;
  const name =
    target.projectId === project ? automationArgumentOf(target) : shellWord(fullNameOf(target));
  return `${remedyOfErrorType(errorType)} \`runctl trigger ${name} --watch\``;
}
