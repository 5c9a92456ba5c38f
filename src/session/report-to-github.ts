import { appendFile } from 'node:fs/promises';
import type { Context } from '../context.ts';
import { errorAnnotation } from '../render/github-actions.ts';
import { jobSummary, type Told } from '../render/job-summary.ts';
import { endingOf } from '../runs/run.ts';

/** In a step of GitHub Actions: an annotation for each run that did not complete, and a part of the job's summary. */
export async function tellGithubActions(told: readonly Told[], { env, stderr, secrets }: Context): Promise<void> {
  for (const { about, ending, problem } of told) {
    const { execution, result } = ending ?? {};
    // A problem has its annotation where it is printed.
    if (problem || !execution || endingOf(execution.status) === 'ok') continue;
    const { type, message } = result?.error ?? {};
    const why = [type, message].filter(Boolean).join(': ');
    stderr.write(errorAnnotation(`${about} ${execution.status}`, why || `the run ended ${execution.status}`));
  }
  const file = env.GITHUB_STEP_SUMMARY;
  const summary = secrets.scrub(await jobSummary(told));
  if (!file || summary === '') return;
  await appendFile(file, summary).catch((error: Error) =>
    stderr.write(`runctl: the job summary could not be written: ${error.message}\n`),
  );
}
