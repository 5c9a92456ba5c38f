import type { Context } from '../context.ts';
import { isUnknown, type JournalEntry, stillCounts } from '../journal/entries.ts';
import type { Trigger } from '../run/ports.ts';
import {
  type DoneReport,
  Problem,
  type Report,
  type RunReport,
  type UnknownReport,
} from '../run/report.ts';
import { type Automation, isSameAutomation } from '../run/run.ts';
import { responseLost, type StartReport, startRun, unknownReport } from '../run/start-run.ts';
import { dayMs } from '../run/time.ts';
import { resolveSettings } from '../settings/resolve.ts';
import { formatDuration } from '../text/duration.ts';
import { parseAutomations } from './automation.ts';
import type { CommandResult } from './command.ts';
import {
  deadlineOf,
  type FollowFlags,
  follow,
  followPatienceMs,
  readableEntries,
} from './follow.ts';
import { type Opened, open } from './open.ts';

export interface TriggerFlags extends FollowFlags {
  watch?: boolean;
  ifActive?: 'fail' | 'skip' | 'wait';
  idempotencyKey?: string;
  dryRun?: boolean;
}

/** Starts a run of each automation, at once, and follows them with `watch`. */
export async function trigger(
  names: readonly string[],
  flags: TriggerFlags,
  context: Context,
): Promise<CommandResult> {
  const { idempotencyKey, watch = false, dryRun = false } = flags;
  if (idempotencyKey !== undefined && names.length > 1) {
    throw new Problem('--idempotency-key is the key of one automation, and there are several');
  }
  const automations = parseAutomations(names, resolveSettings(context));
  const opened = await open(context);
  const show = watch ? 'summaries' : 'ids';
  if (dryRun) {
    return { reports: automations.map((each) => dryRunReport(each, opened)), show: 'text' };
  }
  warnOfUnknown(automations, idempotencyKey, opened);
  const triggerOne = async (automation: Automation): Promise<Report> => {
    const started = await start(automation, flags, opened, context);
    if (started.kind !== 'run') return started;
    const run = { automation, executionId: started.executionId };
    const isAccepted = started.trigger?.started !== 'no';
    if (isAccepted) context.emit({ type: 'started', run });
    if (!watch) return started;
    const followed = await follow(run, { isAccepted, isRecorded: true }, flags, opened, context);
    return { ...followed, trigger: started.trigger, isLastRun: true };
  };
  return { reports: await Promise.all(automations.map(triggerOne)), show };
}

function start(
  automation: Automation,
  flags: TriggerFlags,
  opened: Opened,
  context: Context,
): Promise<StartReport> {
  const { idempotencyKey: givenKey, ifActive = 'fail', giveUpAfterMs, intervalMs } = flags;
  const { ports, settings } = opened;
  const options = {
    patienceMs: giveUpAfterMs ?? followPatienceMs,
    deadlineMs: deadlineOf(flags, context),
    ifActive,
    intervalMs,
    areKeysIgnored: settings.idempotencyKeys.value === 'ignored',
  };
  if (givenKey === undefined) {
    const minted = { automation, idempotencyKey: ports.newKey(), isKeyGiven: false };
    return startRun(minted, options, ports);
  }
  const given = { automation, idempotencyKey: givenKey, isKeyGiven: true };
  const entry = recordedEntry(given, opened, context);
  if (entry?.executionId !== undefined) {
    return Promise.resolve(replayed(given, entry.executionId, context));
  }
  const firstSent = entry?.trigger?.openSents[0];
  if (!firstSent) return startRun(given, options, ports);
  const { atMs } = firstSent;
  const unsent = whyNotSent(entry, opened);
  if (unsent) return Promise.resolve({ ...unknownReport(given, responseLost), atMs, ...unsent });
  return startRun(given, { ...options, unknownSinceMs: atMs }, ports);
}

/**
 * What the journal has of a given key that wasn't refused. Throws a `Problem` if the service may
 * have forgotten the key, or if it belongs to another automation.
 */
function recordedEntry(
  { automation, idempotencyKey }: Trigger,
  { journal }: Opened,
  { clock, emit }: Context,
): JournalEntry | undefined {
  const entries = readOrWarn(() => journal.search(idempotencyKey), emit);
  const sent = entries.filter(
    (entry) =>
      entry.trigger?.idempotencyKey === idempotencyKey &&
      (isUnknown(entry) || entry.executionId !== undefined),
  );
  const other = sent.find((entry) => !isSameAutomation(entry.automation, automation));
  if (other) {
    throw new Problem(
      `the idempotency key ${idempotencyKey} belongs to ${other.automation.name}: use another one for ${automation.name}`,
    );
  }
  const [entry] = sent;
  const firstMs = entry?.trigger?.openSents[0]?.atMs ?? entry?.atMs ?? clock.nowMs();
  const ageMs = Math.abs(clock.nowMs() - firstMs);
  if (ageMs > dayMs) {
    throw new Problem(
      `the idempotency key ${idempotencyKey} was first sent ${formatDuration(ageMs)} ago, and services forget keys after 24h: use a new one`,
    );
  }
  return entry;
}

type Unsent = Pick<UnknownReport, 'notSentBecause' | 'isRecoverable'>;

/** Undefined if an unknown trigger may be sent again, unless `recover` minds its age or order. */
export function whyNotSent(
  { trigger }: JournalEntry,
  { settings, apiKey }: Pick<Opened, 'settings' | 'apiKey'>,
): Unsent | undefined {
  const sents = trigger?.openSents ?? [];
  if (settings.idempotencyKeys.value === 'ignored') {
    return { notSentBecause: 'idempotency keys are ignored', isRecoverable: false };
  }
  if (sents.some(({ areKeysIgnored }) => areKeysIgnored)) {
    const notSentBecause = 'idempotency keys were ignored when it was sent';
    return { notSentBecause, isRecoverable: false };
  }
  if (sents.every((sent) => sent.apiKey === apiKey)) return undefined;
  // Another profile's sweep may find its run.
  return { notSentBecause: 'it was sent with another API key', isRecoverable: true };
}

function replayed(given: Trigger, executionId: string, { emit }: Context): RunReport {
  const { automation, idempotencyKey, isKeyGiven } = given;
  const text = `${automation.name} was already started with this idempotency key, so nothing was sent`;
  emit({ type: 'note', text });
  const trigger = { started: 'no' as const, idempotencyKey, isKeyGiven };
  return { kind: 'run', automation, executionId, trigger };
}

/** Names the unknown triggers of these automations that nobody has heard of yet. */
function warnOfUnknown(
  automations: readonly Automation[],
  key: string | undefined,
  { journal, ports: { emit } }: Opened,
): void {
  // If a key was given, the search for it has the same warning.
  const entries =
    key === undefined ? readOrWarn(() => journal.recent(), emit) : readableEntries(journal);
  for (const automation of automations) {
    const unknown = entries.filter(
      (entry) =>
        stillCounts(entry) &&
        isSameAutomation(entry.automation, automation) &&
        entry.trigger?.idempotencyKey !== key,
    );
    if (unknown.length === 0) continue;
    const which =
      unknown.length === 1 ? 'an earlier trigger' : `${unknown.length} earlier triggers`;
    const text = `${which} of ${automation.name} may have started a run (runctl recover finds out)`;
    emit({ type: 'warning', automation, text });
  }
}

/** A journal that can't be read keeps nobody from starting a run. */
function readOrWarn(read: () => JournalEntry[], emit: Context['emit']): JournalEntry[] {
  try {
    return read();
  } catch (error) {
    emit({ type: 'warning', text: (error as Error).message });
    return [];
  }
}

function dryRunReport(automation: Automation, { settings }: Opened): DoneReport {
  const { projectId, name } = automation;
  const url = `${settings.baseUrl?.value}/v0/automation/${projectId}/${encodeURIComponent(name)}/trigger`;
  return {
    kind: 'done',
    exit: 'ok',
    text: `would send POST ${url}`,
    document: { projectId, automationName: name, url },
  };
}
