import { formatDuration } from '../runs/duration.ts';
import { isFinal, type Run } from '../runs/run.ts';
import type { Execution } from '../runs/service.ts';
import { block } from './fields.ts';
import { tookOf } from './run-duration.ts';
import { clean, cleanLine } from './sanitize.ts';
import { colorOfState } from './state.ts';
import type { Theme } from './theme.ts';
import type { Lines } from './wrap.ts';

/** One look at a run, as a short labelled block. */
export function statusBlock(run: Run, execution: Execution, nowMs: number, theme: Theme, lines: Lines): string {
  const { target } = run;
  const agent = target.family === 'agent';
  const ended = isFinal(target, execution.status);
  return block(
    [
      ['state', colorOfState(target, execution.status, theme)(cleanLine(execution.status))],
      ['automation', agent ? undefined : clean(target.automationName)],
      ['project', agent ? undefined : target.projectId],
      ['agent', agent ? target.agentId : undefined],
      ['run', run.executionId],
      ['title', execution.title && cleanLine(execution.title)],
      ['message', execution.message && cleanLine(execution.message)],
      ['started', when(execution.startedAt, nowMs)],
      ['ended', ended ? when(execution.completedAt, nowMs) : undefined],
      ['duration', tookOf(ended ? execution : { ...execution, completedAt: new Date(nowMs).toISOString() })],
      ['credits', execution.creditsCharged === undefined ? undefined : String(execution.creditsCharged)],
    ],
    theme,
    lines,
  );
}

function when(timestamp: string | undefined, nowMs: number): string | undefined {
  if (timestamp === undefined) return undefined;
  const atMs = Date.parse(timestamp);
  const utc = `${new Date(atMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  return atMs <= nowMs ? `${utc} (${formatDuration(nowMs - atMs)} ago)` : utc;
}
