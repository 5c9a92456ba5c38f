import { appendFile } from 'node:fs/promises';
import type { Context } from '../context.ts';
import { errorAnnotation } from '../render/github-actions.ts';
import { jobSummary } from '../render/job-summary.ts';
import { isCompleted, nameOf } from '../runs/run.ts';
import { type ArgumentResult, finishedWatchOf, problemOf, targetOf } from './argument-result.ts';

/** In a step of GitHub Actions: an annotation for each run that did not complete, and a part of the job's summary. */
export async function reportToGithub(
  results: readonly ArgumentResult[],
  { env, stderr, secrets, reporter }: Context,
): Promise<void> {
  const parts = results.map((result) => ({
    about: nameOf(targetOf(result)),
    watched: finishedWatchOf(result),
    problem: problemOf(result),
  }));
  for (const { about, watched, problem } of parts) {
    // A problem has its annotation where it is printed.
    if (problem || !watched || isCompleted(watched.execution.status)) continue;
    const { status } = watched.execution;
    const { type, message } = watched.result?.error ?? {};
    const why = [type, message].filter(Boolean).join(': ');
    stderr.write(errorAnnotation(`${about} ${status}`, why || `the run ended ${status}`));
  }
  const file = env.GITHUB_STEP_SUMMARY;
  const summary = secrets.scrub(jobSummary(parts));
  if (!file || summary === '') return;
  await appendFile(file, summary).catch((error: Error) =>
    reporter.observe({
      event: 'warning',
      name: 'job_summary_failed',
      message: `the job summary could not be written: ${error.message}`,
    }),
  );
}
