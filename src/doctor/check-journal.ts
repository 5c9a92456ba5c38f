import { resolveStateFolder } from '../config/paths.ts';
import { shortSource } from '../config/profile.ts';
import { type Resolved, valueIfGiven } from '../config/setting-table.ts';
import { need } from '../config/settings.ts';
import { keyTreatmentOf } from '../connection/connection.ts';
import { journalOf } from '../connection/open-journal.ts';
import { inspectStateFolder } from '../connection/state-folder.ts';
import type { Journal } from '../journal/journal.ts';
import { createProcesses, senderOf, shownProcess } from '../journal/processes.ts';
import { Problem } from '../problems/problem.ts';
import { count } from '../problems/quote.ts';
import type { KeyTreatment } from '../runs/service.ts';
import { localTime } from '../runs/time-text.ts';
import { type Finding, type Machine, ok, skipped, warning } from './finding.ts';

/** Less space than a few hundred triggers need. */
const leastBytes = 2 ** 20;

export function* checkStateFolder({ context }: Machine): Generator<Finding> {
  const folder = resolveStateFolder(context.env);
  if (folder === undefined) {
    const message = 'there is no folder for the journal';
    throw new Problem({ name: 'output_error', message, hint: 'set HOME or RUNCTL_STATE_DIR' });
  }
  const { path, files, bytes, freeBytes, trouble } = inspectStateFolder(folder, leastBytes);
  if (trouble) throw trouble;
  const size = `${sizeOf(bytes)} in ${count(files, 'file')}`;
  yield ok('state_folder', `${path}, ${size}, ${sizeOf(freeBytes)} free`);
}

function sizeOf(bytes: number): string {
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  let size = bytes / 1024;
  for (; size >= 1000 && units.length > 1; units.shift()) size /= 1024;
  return `${Math.ceil(size)} ${units[0]}`;
}

/** The journal's open items: unresolved triggers and unfinished runs. */
export function* checkJournal({ settings, context }: Machine): Generator<Finding> {
  if (!settings) return;
  const baseUrl = need('baseUrl', settings);
  const processes = createProcesses();
  const journal = journalOf(context, { needed: true });
  const open = journal.unresolvedTriggers({ baseUrl });
  const senders = open.flatMap((trigger) => senderOf(trigger, processes) ?? []);
  const unresolved = open.length - senders.length;
  if (unresolved === 0 && senders[0])
    yield ok('unresolved_triggers', `none; ${senders.length} still being sent by ${shownProcess(senders[0])}`);
  else if (unresolved === 0) yield ok('unresolved_triggers', 'none');
  else yield warning('unresolved_triggers', `${unresolved}: whether they started a run is unknown`, '`runctl recover`');
  const unfinished = journal.unfinishedRuns({ baseUrl }).length;
  yield ok(
    'unfinished_runs',
    unfinished === 0 ? 'none' : `${unfinished} when last polled; \`runctl watch --all\` watches them`,
  );
  yield keysFinding(journal.keysSeen(baseUrl), settings.idempotencyKeys);
}

/** What the service was last seen to do, or is said to do, with an idempotency key that it had seen before. */
function keysFinding(seen: ReturnType<Journal['keysSeen']>, setting: Resolved<KeyTreatment>): Finding {
  const treatment = keyTreatmentOf(seen?.treatment, valueIfGiven(setting));
  if (!treatment)
    return skipped(
      'idempotency_keys',
      'never seen whether the service honors them: `runctl doctor --try-key <automation>` finds out, and starts one or two runs',
    );
  const isSeen = seen?.treatment === treatment;
  const how = isSeen
    ? `as seen at ${localTime(seen.at)}`
    : `as set (${shortSource(setting.source)}), ${seen ? `though seen ${seen.treatment} at ${localTime(seen.at)}` : 'never seen'}`;
  return treatment === 'honored' ? honored(`honored, ${how}`) : ignored(`ignored, ${how}`);
}

export const honored = (message: string): Finding => ok('idempotency_keys', message);

export const ignored = (message: string): Finding => warning('idempotency_keys', message, advice);

const advice = `triggers repeated before that may have started two runs: look in the service \
for a second run at the time of each. From now on, a trigger whose \
response is lost isn't repeated, and \`runctl recover\` says which run to look for`;
