import type { Context } from '../context.ts';
import type { Trigger } from '../core/ports.ts';
import { type DoneReport, Problem, type Report } from '../core/report.ts';
import { type Automation, isSameAutomation } from '../core/run.ts';
import { runReport, type StartReport, startRun, unknownReport } from '../core/start-run.ts';
import { dayMs } from '../core/time.ts';
import { isUnknown, isUnreported, type JournalEntry } from '../journal/entries.ts';
import { entriesOrNone } from '../journal/history.ts';
import { triggerUrl } from '../service/service.ts';
import { requireBaseUrl } from '../settings/settings.ts';
import { formatDuration } from '../text/duration.ts';
import { parseAutomation } from './arguments.ts';
import type { CommandResult } from './command.ts';
import { type Opened, open } from './open.ts';
import { whyNotSent } from './unsent.ts';
import { type CommonWatchFlags, deadlineOf, watchPatienceMs, watchTriggered } from './watch-one.ts';

export interface TriggerFlags extends CommonWatchFlags {
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
  const { idempotencyKey, watch, dryRun } = flags;
  if (idempotencyKey !== undefined && names.length > 1) {
    throw new Problem('--idempotency-key is the key of one automation, and there are several');
  }
  const opened = await open(context);
  const automations = names.map((name) => parseAutomation(name, opened.settings));
  const twice = automations.find(
    (one, index) => automations.findIndex((other) => isSameAutomation(one, other)) < index,
  );
  if (twice) throw new Problem(`${twice.name} is named twice`);
  if (dryRun) {
    return { reports: automations.map((each) => dryRunReport(each, opened)), show: 'text' };
  }
  const earlier = unknownBefore(automations, idempotencyKey, opened);
  for (const [automation, count] of earlier) warnOfUnknown(automation, count, context);
  const reports = automations.map(async (automation): Promise<Report> => {
    const report = await start(automation, flags, opened, context);
    if (report.kind === 'not_started' && earlier.has(automation)) {
      return { ...report, isUnknownBefore: true };
    }
    if (report.kind === 'run' && report.trigger?.started !== 'no') {
      const { executionId } = report;
      context.emit({ type: 'started', run: { automation, executionId } });
    }
    return watchTriggered(report, flags, opened, context);
  });
  return { reports: await Promise.all(reports), show: watch ? 'summaries' : 'ids' };
}

function dryRunReport({ projectId, name }: Automation, { settings }: Opened): DoneReport {
  const url = triggerUrl(requireBaseUrl(settings), { projectId, name });
  return {
    kind: 'done',
    exit: 'ok',
    text: `would send POST ${url}`,
    document: { projectId, automationName: name, url },
  };
}

async function start(
  automation: Automation,
  flags: TriggerFlags,
  opened: Opened,
  context: Context,
): Promise<StartReport> {
  const { idempotencyKey: givenKey, ifActive = 'fail', giveUpAfterMs, intervalMs } = flags;
  const { ports, settings } = opened;
  const options = {
    patienceMs: giveUpAfterMs ?? watchPatienceMs,
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
  if (!entry) return startRun(given, options, ports);
  const { executionId, atMs } = entry;
  if (executionId !== undefined) {
    const text = `${automation.name} was already started with this idempotency key, so nothing was sent`;
    context.emit({ type: 'note', text });
    return runReport(given, executionId, 'no');
  }
  const unsent = whyNotSent(entry, opened);
  if (unsent) return { ...unknownReport(given), atMs, ...unsent };
  return startRun(given, { ...options, unknownSinceAtMs: atMs }, ports);
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
  const entries = entriesOrNone(
    () => journal.search(idempotencyKey),
    (text) => emit({ type: 'warning', text }),
  );
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
  const ageMs = entry ? Math.abs(clock.nowMs() - entry.atMs) : 0;
  if (ageMs > dayMs) {
    throw new Problem(
      `the idempotency key ${idempotencyKey} was first sent ${formatDuration(ageMs)} ago, and services forget keys after 24h: use a new one`,
    );
  }
  return entry;
}

/** How many unknown triggers of each automation nobody has heard of yet. 0 is left out. */
function unknownBefore(
  automations: readonly Automation[],
  key: string | undefined,
  { journal, ports: { emit } }: Opened,
): Map<Automation, number> {
  const entries = entriesOrNone(journal.recent, (text) => {
    // If a key was given, the search for it has the same warning.
    if (key === undefined) emit({ type: 'warning', text });
  });
  const unknown = entries.filter(
    (entry) => isUnreported(entry) && entry.trigger?.idempotencyKey !== key,
  );
  const countOf = (automation: Automation) =>
    unknown.filter((entry) => isSameAutomation(entry.automation, automation)).length;
  return new Map(
    automations.map((one) => [one, countOf(one)] as const).filter(([, count]) => count > 0),
  );
}

function warnOfUnknown(automation: Automation, count: number, { emit }: Context): void {
  const which = count === 1 ? 'an earlier trigger' : `${count} earlier triggers`;
  const text = `${which} of ${automation.name} may have started a run (runctl recover finds out)`;
  emit({ type: 'warning', automation, text });
}
