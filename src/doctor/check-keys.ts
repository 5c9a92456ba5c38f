import { shortSource } from '../config/profile.ts';
import type { Resolved } from '../config/setting.ts';
import { keyTreatmentIn } from '../config/settings.ts';
import { keyTreatmentOf } from '../connection/connection.ts';
import type { Journal } from '../journal/journal.ts';
import { utcTime } from '../runs/utc-time.ts';
import { type Finding, ok, skipped, warning } from './finding.ts';

const name = 'idempotency_keys';

/** What the service was last seen to do, or is said to do, with an idempotency key that it had seen before. */
export function keysFinding(seen: ReturnType<Journal['keysSeen']>, setting: Resolved): Finding {
  const treatment = keyTreatmentOf(seen?.treatment, keyTreatmentIn({ idempotencyKeys: setting }));
  if (!treatment)
    return skipped(
      name,
      'never seen whether the service honors them: `runctl doctor --try-key <automation>` finds out, and starts one or two runs',
    );
  const isSeen = seen?.treatment === treatment;
  const how = isSeen ? `as seen at ${utcTime(seen.at)}` : `as set (${shortSource(setting.source)}), never seen`;
  return treatment === 'honored' ? honored(`honored, ${how}`) : ignored(`ignored, ${how}`);
}

export const honored = (message: string): Finding => ok(name, message);

export const ignored = (message: string): Finding => warning(name, message, advice);

const advice = `triggers repeated before that may have started two runs: in \`runctl history --since 30d\`, look for \
"outcome unknown" followed by "resolved", and in the service for a second run at that time. From now on, a trigger whose \
response is lost isn't repeated, and \`runctl recover\` says which run to look for`;
