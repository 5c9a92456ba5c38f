import type { HistoryEvent } from '../runs/history-event.ts';
import { nameOf } from '../runs/run.ts';
import { utcTime } from '../runs/utc-time.ts';
import { type Finding, ok, warning } from './finding.ts';

const name = 'hooks';

/** The last hook that failed. Otherwise only an unread mail may say so. */
export function hooksFinding(lastDay: readonly HistoryEvent[]): Finding {
  const last = lastDay.filter(({ failure }) => failure !== undefined).at(-1);
  if (!last) return ok(name, 'none failed in the last 24h');
  const { hook, target, at, failure } = last;
  const message = `the ${hook} hook of ${nameOf(target)} ${failure} at ${utcTime(at)}`;
  return warning(name, message, '`runctl history` shows every hook; run the command by hand as this user');
}
