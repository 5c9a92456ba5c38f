import type { Context } from '../context.ts';
import { laterSignOfLifeMs, signOfLifeMs } from '../runs/defaults.ts';
import { formatDuration } from '../runs/duration.ts';
import { isFinal, isKnownStatus, nameOf } from '../runs/run.ts';
import { themeOf } from './output.ts';
import type { ReportedEvent, Reporter } from './reporter.ts';
import { cleanLine } from './sanitize.ts';
import { lastConfirmed } from './state.ts';
import { renderMarkup } from './theme.ts';

/** For logs: a timestamped line a change on stderr, and a sparse sign of life that keeps a CI job from being taken for dead. */
export function createLineReporter(context: Context): Reporter {
  const { clock, stderr } = context;
  const theme = themeOf(stderr, context);
  const startMs = clock.elapsedMs();
  /** By run: when a line was last written, and how many signs of life were. */
  const told = new Map<string, { atMs: number; signs: number }>();

  return {
    observe(event) {
      const { executionId } = event.run;
      const text = lineOf(event);
      const last = told.get(executionId);
      const nowMs = clock.elapsedMs();
      if (text === undefined) return;
      if (isSignOfLife(event)) {
        const gapMs = last && last.signs > 0 ? laterSignOfLifeMs : signOfLifeMs;
        if (nowMs - (last?.atMs ?? startMs) < gapMs) return;
      }
      told.set(executionId, { atMs: nowMs, signs: isSignOfLife(event) ? (last?.signs ?? 0) + 1 : 0 });
      const at = new Date(clock.nowMs()).toISOString().replace(/\.\d+Z$/, 'Z');
      stderr.write(`${at} ${cleanLine(nameOf(event.run.target))} ${cleanLine(text)}\n`);
    },
    say: (line) => stderr.write(`${renderMarkup(line, theme)}\n`),
    stop() {},
  };
}

/** Repeats what is known already: worth a line only now and then. */
function isSignOfLife(event: ReportedEvent): boolean {
  return event.event === 'waiting' || (event.event === 'poll_failed' && event.failures > 1);
}

function lineOf(event: ReportedEvent): string | undefined {
  switch (event.event) {
    case 'status': {
      const { run, execution, changed } = event;
      if (!changed || isFinal(run.target, execution.status)) return undefined;
      const unknown = isKnownStatus(execution.status) ? '' : ', a state this version does not know: following on';
      return `${execution.status}${unknown} (run ${run.executionId})`;
    }
    case 'poll_failed': {
      const { failures, silentMs, fault, retryInMs } = event;
      const quiet = failures > 1 ? ` for ${formatDuration(silentMs)}` : '';
      return `no good answer${quiet}: ${fault.message}; ${lastConfirmed(event)}; asking again in ${formatDuration(retryInMs)}`;
    }
    case 'service_back':
      return `answers again after ${formatDuration(event.afterMs)}`;
    case 'waiting':
      return event.execution && `still ${event.execution.status}`;
    case 'final':
      return event.execution.status;
    case 'triggered': // `say` has told it, with its id.
    case 'problem':
      return undefined;
  }
}
