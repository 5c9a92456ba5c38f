import type { Journal } from '../journal/journal.ts';
import { utcTime } from '../runs/utc-time.ts';
import { type Finding, ok, skipped, warning } from './finding.ts';

const name = 'idempotency_keys';

/** What the service was last seen to do with an idempotency key that it had seen before. */
export function keysFinding(seen: ReturnType<Journal['keysSeen']>): Finding {
  if (!seen) {
    return skipped(
      name,
      'not known yet whether the service honors them: `runctl doctor --try-key <automation>` finds out',
    );
  }
  const when = `as seen at ${utcTime(seen.at)}`;
  return seen.treatment === 'honored' ? honored(`honored, ${when}`) : ignored(`ignored, ${when}`);
}

export const honored = (message: string): Finding => ok(name, message);

export const ignored = (message: string): Finding => warning(name, message, advice);

const advice = `triggers repeated before that may have started two runs: in \`runctl history --since 30d\`, look for \
"outcome unknown" followed by "resolved", and in the service for a second run at that time. From now on, a trigger whose \
response is lost isn't repeated, and \`runctl recover\` says which run to look for`;
