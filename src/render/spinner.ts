import ora from 'ora';
import type { Context } from '../context.ts';
import { formatDuration } from '../runs/duration.ts';
import type { FollowEvent } from '../runs/follow-event.ts';
import { isKnownState, nameOf } from '../runs/run.ts';
import { cleanLine } from './clean.ts';
import { lastConfirmed } from './lines.ts';
import type { Reporter } from './reporter.ts';
import { createTheme } from './theme.ts';

const redrawMs = 1_000;

/** One run on a terminal: its state, its age, and what is happening when nothing answers. */
export async function createSpinnerReporter(usualMs: number | undefined, context: Context): Promise<Reporter> {
  const { clock, stderr, terminal, unicode } = context;
  const theme = await createTheme({ colors: stderr.colors, unicode });
  const { dot } = theme.symbols;
  const startMs = clock.elapsedMs();
  let failing: Extract<FollowEvent, { event: 'poll_failed' }> | undefined;
  let failedAtMs = 0;
  let shown: { name: string; state: string; startedAtMs: number } | undefined;
  let warned = false;

  // `discardStdin` would swallow Ctrl-C on a pseudo-terminal; `isEnabled` because ora looks at CI variables too.
  const spinner = ora({ stream: terminal, discardStdin: false, isEnabled: true, spinner: unicode ? 'dots' : 'line' });

  const draw = () => {
    if (!shown) {
      spinner.text = failing ? `waiting for a first answer ${theme.warn(cleanLine(failing.fault.message))}` : 'asking';
      return;
    }
    const ageMs = clock.nowMs() - shown.startedAtMs;
    const parts = [`${theme.strong(shown.name)} ${theme.warn(shown.state)} ${formatAge(ageMs)}`];
    if (failing) {
      const sinceMs = clock.elapsedMs() - failedAtMs;
      const known = lastConfirmed({ status: failing.status, ageMs: (failing.ageMs ?? 0) + sinceMs });
      parts.push(theme.warn(`${theme.symbols.warn} ${cleanLine(failing.fault.message)}, ${known}`));
    } else if (usualMs !== undefined) {
      parts.push(theme.dim(ageMs > 1.5 * usualMs ? 'taking longer than usual' : `usually ${formatAge(usualMs)}`));
    }
    spinner.text = parts.join(theme.dim(` ${dot} `));
  };
  let timer: NodeJS.Timeout | undefined;
  const start = () => {
    draw();
    timer = setInterval(draw, redrawMs);
    spinner.start();
  };

  const above = (line: string) => {
    if (spinner.isSpinning) spinner.clear();
    stderr.write(`${line}\n`);
  };

  return {
    observe(event) {
      if (!timer) start();
      if (event.event === 'status') {
        const { run, execution } = event;
        const startedAtMs = Date.parse(execution.startedAt ?? '');
        const seenAtMs = shown?.startedAtMs ?? clock.nowMs() - (clock.elapsedMs() - startMs);
        shown = {
          name: cleanLine(nameOf(run.target)),
          state: cleanLine(execution.status),
          startedAtMs: startedAtMs <= clock.nowMs() ? startedAtMs : seenAtMs,
        };
        if (run.target.family === 'automation' && !isKnownState(execution.status) && !warned) {
          warned = true;
          above(`${theme.warn(theme.symbols.warn)} ${shown.state} is a state this version does not know: following on`);
        }
      }
      if (event.event === 'poll_failed') {
        failing = event;
        failedAtMs = clock.elapsedMs();
      }
      if (event.event === 'recovered') {
        failing = undefined;
        above(theme.dim(`${theme.symbols.dot} the service answers again after ${formatDuration(event.afterMs)}`));
      }
      draw();
    },
    say: (line) => above(cleanLine(line)),
    stop() {
      clearInterval(timer);
      spinner.stop();
    },
  };
}

/** Whole seconds: a spinner that shows tenths is restless. */
const formatAge = (ms: number) => formatDuration(Math.max(0, Math.floor(ms / 1000) * 1000));
