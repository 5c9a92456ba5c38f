import { nameOf, type Run } from '../run/run.ts';
import { type Execution, errorTextOf, type RunResult } from '../run/service.ts';
import { endedWell } from '../run/statuses.ts';
import { sanitize, sanitizeLine } from '../system/sanitize.ts';
import { fields } from './fields.ts';
import { creditsOf, durationOf, markedStatus } from './status-text.ts';
import type { Theme } from './theme.ts';
import type { WrapOptions } from './wrap.ts';

interface RunFacts {
  run: Run;
  execution?: Execution;
  result?: RunResult;
}

/** The summary for people. Without the `columns` of a terminal, the output is left as the service sent it. */
export function summary({ run, execution, result }: RunFacts, theme: Theme, { columns }: WrapOptions): string {
  const status = execution?.status ?? result?.status ?? '';
  const took = durationOf({ ...execution, completedAt: execution?.completedAt ?? result?.completedAt });
  const head = `${markedStatus({ status, isFinal: (execution ?? result)?.isFinal ?? false }, theme)} ${theme.strong(sanitizeLine(nameOf(run.target)))}`;
  const time = took ? ` ${theme.dim(`${endedWell(status) ? 'in' : 'after'} ${took}`)}` : '';
  const rows = fields(
    [
      ['error', result?.error && theme.bad(sanitizeLine(errorTextOf(result)))],
      ['steps', stepsLine(result?.isFinal ? result.summary : undefined, theme)],
      ['credits', execution && creditsOf(execution)],
      ['run', run.executionId],
    ],
    theme,
    { columns, indent: 2 },
  );
  const output = bareOutput(result, columns === undefined);
  return `${head}${time}\n${rows}${output && `\n${output}`}`;
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
  return stepCount === undefined ? counted : `${counted}${counted ? ' ' : ''}of ${stepCount}`;
}

/** The output alone, with a newline at its end; `raw` leaves it as the service sent it. */
export function bareOutput(result: RunResult | undefined, raw: boolean): string {
  const output = result?.output;
  if (!output) return '';
  const text = raw ? output : sanitize(output);
  return `${text}${text.endsWith('\n') ? '' : '\n'}`;
}
