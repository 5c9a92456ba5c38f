import { isCompleted, nameOf, type Run } from '../runs/run.ts';
import type { Execution, RunResult } from '../runs/service.ts';
import { fields } from './fields.ts';
import { clean, cleanLine } from './sanitize.ts';
import { colorOfStatus, durationOf, symbolOfStatus } from './status.ts';
import type { Theme } from './theme.ts';
import type { WrapOptions } from './wrap.ts';

interface RunFacts {
  run: Run;
  execution?: Execution;
  result?: RunResult;
}

/** For the eye. Without a width, that of a terminal, the output is left as the service sent it. */
export function summary({ run, execution, result }: RunFacts, theme: Theme, { columns }: WrapOptions): string {
  const status = execution?.status ?? result?.status ?? '';
  const color = colorOfStatus(run.target, status, theme);
  const took = durationOf({ ...execution, completedAt: execution?.completedAt ?? result?.completedAt });
  const verb = isCompleted(status) ? 'in' : 'after';
  const head = `${color(`${symbolOfStatus(run.target, status, theme)} ${cleanLine(status)}`)} ${theme.strong(cleanLine(nameOf(run.target)))}`;
  const rows = fields(
    [
      ['error', result?.error && theme.bad(errorLine(result.error))],
      ['steps', stepsLine(result?.summary, theme)],
      ['credits', execution?.creditsCharged === undefined ? undefined : String(execution.creditsCharged)],
      ['run', run.executionId],
    ],
    theme,
    { columns, indent: 2 },
  );
  return `${head}${took ? ` ${theme.dim(`${verb} ${took}`)}` : ''}\n${rows}${outputOf(result, columns === undefined)}`;
}

function errorLine({ type, message }: NonNullable<RunResult['error']>): string {
  return [type, message]
    .filter((part) => part)
    .map((part) => cleanLine(part ?? ''))
    .join(': ');
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

function outputOf(result: RunResult | undefined, raw: boolean): string {
  const output = bareOutput(result, raw);
  return output && `\n${output}`;
}

/** The output alone, with a newline at its end; `raw` leaves it as the service sent it. */
export function bareOutput(result: RunResult | undefined, raw: boolean): string {
  const output = result?.output;
  if (!output) return '';
  const text = raw ? output : clean(output);
  return `${text}${text.endsWith('\n') ? '' : '\n'}`;
}
