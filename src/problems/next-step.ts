import { type AutomationTarget, isCompleted, isFinal, type Run } from '../runs/run.ts';
import { shellWord } from './quote.ts';

/** What the user can do about each error type of a result (docs/service.md, Error types). */
const meanings: Record<string, string> = {
  step_failed: 'mend what the step stumbled over, then start it again with',
  timed_out: 'the service ends a run after 3 hours: make the Automation do less in one run, then start it again with',
  not_runnable: 'something in the Automation is wrong: mend it there, then start it again with',
  lease_lost: 'the run lost its environment, not its way: start it again with',
  reaped: 'the run lost its environment, not its way: start it again with',
  run_failed: 'start it again with',
};

/** The documented error types; the service may add others. */
export const errorTypes: readonly string[] = Object.keys(meanings);

/**
 * What to do about a run that ended otherwise than it should, in one sentence; nothing where all is well.
 * `project` is the one that a bare automation name means.
 */
export function nextStepOf({ target }: Run, status: string, errorType = '', project?: string): string | undefined {
  // The Agent endpoints are discontinued: nobody is sent back to them.
  if (target.family === 'agent' || !isFinal(target, status) || isCompleted(status)) return undefined;
  const meaning = Object.hasOwn(meanings, errorType) ? meanings[errorType] : 'start it again with';
  return `${meaning} \`runctl trigger ${argumentOf(target, project)} --watch\``;
}

function argumentOf({ projectId, automationName }: AutomationTarget, project?: string): string {
  return shellWord(projectId === project ? automationName : `${projectId}/${automationName}`);
}
