import { requireProject } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { usageProblem } from '../problems/problem.ts';
import { parseAutomationArgument } from '../session/arguments.ts';
import { type ConnectOptions, connect } from '../session/connect.ts';
import { type TriggerFlags, triggerAll } from '../session/trigger-runs.ts';

export interface TriggerOptions extends ConnectOptions, TriggerFlags {}

/** `runctl trigger <automation>…`: starts runs now; with `--watch`, follows them to their end. */
export async function trigger(names: string[], options: TriggerOptions, context: Context): Promise<number> {
  if (names.length > 1 && options.idempotencyKey !== undefined) {
    throw usageProblem('--idempotency-key names one run, so it goes with one automation');
  }
  checkWatchFlags(options);
  const session = await connect(options, context);
  const project = () => requireProject(session.settings);
  const requests = names.map((name) => ({ target: parseAutomationArgument(name, project), body: '{}' }));
  return triggerAll(requests, options, session);
}

/** Refuses the flags that would be of no effect. */
export function checkWatchFlags(options: TriggerOptions): void {
  const needsWatch = [
    options.events && '--events',
    options.rerunOn && '--rerun-on',
    options.maxReruns !== undefined && '--max-reruns',
    options.onFinal && '--on-final',
    options.bell && '--bell',
  ];
  const [lonely] = needsWatch.filter(Boolean);
  if (lonely && !options.watch) throw usageProblem(`${lonely} goes with --watch`);
}
