import { resolveStateFolder } from '../config/paths.ts';
import { need } from '../config/settings.ts';
import { journalOf } from '../connection/open-journal.ts';
import { journalTrouble } from '../connection/state-folder.ts';
import { createProcesses, senderOf, shownProcess } from '../journal/processes.ts';
import { Problem } from '../problems/problem.ts';
import { type Finding, type Machine, ok, warning } from './finding.ts';

export function* checkStateFolder({ context }: Machine): Generator<Finding> {
  const folder = resolveStateFolder(context.env);
  if (folder === undefined) {
    const message = 'there is no folder for the journal';
    throw new Problem({ name: 'output_error', message, hint: 'set HOME or RUNCTL_STATE_DIR' });
  }
  const trouble = journalTrouble(folder);
  if (trouble) throw trouble;
  // Throws if it can't be read.
  journalOf(context, { needed: true }).runs().next();
  yield ok('state_folder', folder);
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
}
