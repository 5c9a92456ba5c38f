import type { Run } from '../run/run.ts';
import { errorTextOf, type RunResult, type RunSnapshot } from '../run/service.ts';
import { isSuccess } from '../run/statuses.ts';
import { sanitize, sanitizeLine } from '../system/sanitize.ts';
import { renderFields } from './fields.ts';
import { creditsOf, durationOf, markedStatus } from './status-text.ts';
import type { Theme } from './theme.ts';
import type { WrapOptions } from './wrap.ts';

interface RunFacts {
  run: Run;
  snapshot: RunSnapshot;
  result?: RunResult;
  /** No status was read, so nothing is known of the credits. */
  isResultOnly?: boolean;
}

/**
 * The summary for people. Without the `columns` of a terminal, the output is left as the service
 * sent it.
 */
export function renderSummary(
  { run, snapshot, result, isResultOnly }: RunFacts,
  theme: Theme,
  { columns }: WrapOptions,
): string {
  const rows = renderFields(
    [
      ['error', result?.error && theme.bad(sanitizeLine(errorTextOf(result)))],
      ['steps', stepsLine(result?.isFinal ? result.summary : undefined, theme)],
      ['credits', isResultOnly ? undefined : creditsOf(snapshot)],
      ['run', run.executionId],
    ],
    theme,
    { columns, indent: 2 },
  );
  const heading = `${headingOf({ run, snapshot, result }, theme)}\n`;
  const output = bareOutput(result, { isRaw: columns === undefined });
  return output ? `${heading}${rows}\n${output}` : heading + rows;
}

/** Such as `✔ COMPLETED nightly in 4m 12s`. */
function headingOf({ run, snapshot, result }: RunFacts, theme: Theme): string {
  const name = theme.strong(sanitizeLine(run.target.automationName));
  const heading = `${markedStatus(snapshot, theme)} ${name}`;
  const took = durationOf({
    ...snapshot,
    completedAt: snapshot.completedAt ?? result?.completedAt,
  });
  if (!took) return heading;
  const word = isSuccess(snapshot.status) ? 'in' : 'after';
  return `${heading} ${theme.dim(`${word} ${took}`)}`;
}

function stepsLine(steps: RunResult['summary'], theme: Theme): string | undefined {
  if (!steps) return undefined;
  const { stepCount, succeededSteps, failedSteps, skippedSteps } = steps;
  const counts = [
    [succeededSteps, 'succeeded', String],
    [failedSteps, 'failed', failedSteps ? theme.bad : String],
    [skippedSteps, 'skipped', String],
  ] as const;
  const counted = counts
    .filter(([count]) => count !== undefined)
    .map(([count, word, style]) => style(`${count} ${word}`))
    .join(', ');
  if (stepCount === undefined) return counted;
  return counted === '' ? `of ${stepCount}` : `${counted} of ${stepCount}`;
}

/**
 * The output of a run, with a newline at its end. Unless it `isRaw`, it is made harmless for a
 * terminal.
 */
export function bareOutput(result: RunResult | undefined, { isRaw }: { isRaw: boolean }): string {
  const output = result?.output;
  if (!output) return '';
  const text = isRaw ? output : sanitize(output);
  return `${text}${text.endsWith('\n') ? '' : '\n'}`;
}
