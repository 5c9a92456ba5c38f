import type { CommandContext } from '../context.ts';
import type { NamedAutomation } from '../journal/entry-filter.ts';
import { pathOf } from '../journal/records.ts';
import { runHandleOf } from '../journal/run-handle.ts';
import {
  laterTriggerText,
  lostTriggerHint,
  lostTriggerText,
  otherRunText,
} from '../messages/warnings.ts';
import { lengthOfIds } from '../output/status-text.ts';
import { type Entry, type RunEntry, runOf, type UnresolvedTrigger } from '../run/entry.ts';
import { didYouMean } from '../run/near-words.ts';
import type { RunHandle } from '../run/outcome.ts';
import { usageProblem } from '../run/problem.ts';
import { quote, quotedName, shellWord } from '../run/quote.ts';
import { fullNameOf, type Target, withDashes } from '../run/run.ts';
import { requiredValue } from '../settings/resolve.ts';
import { flagSource, optionalValue } from '../settings/table.ts';
import { flawOfPaste } from '../system/pasted-text.ts';
import { formatAgo } from '../system/time-text.ts';
import type { RunArgument } from './arguments.ts';
import type { Connection } from './connection.ts';
import { automationsIn } from './known-automations.ts';

/**
 * Finds the run that the argument names. Warns about a later trigger whose run isn't known, because
 * that run may be meant. Throws a usage problem if there is no such run.
 */
export async function findRun(named: RunArgument, connection: Connection): Promise<RunHandle> {
  const handle = await findNamed(named, connection);
  const { target } = handle.run;
  const { value, source } = connection.settings.project;
  if (source !== flagSource('project') || target.projectId === value) return handle;
  throw usageProblem(
    `this run belongs to project ${target.projectId}, not to ${value}`,
    'leave out `--project`',
  );
}

async function findNamed(named: RunArgument, connection: Connection): Promise<RunHandle> {
  switch (named.kind) {
    case 'run':
      return findById(named.executionId, connection, named);
    case 'id':
      return findById(named.executionId, connection);
    case 'last': {
      const last = await findLast(undefined, connection);
      if (last) return last;
      throw usageProblem('no run was started or watched here yet', inFull);
    }
    case 'word': {
      const { automationName, projectId = optionalValue(connection.settings.project) } = named;
      const last = await findLast({ automationName, projectId }, connection);
      if (last) return last;
      const withPrefix = findByPrefix(named.text, connection);
      if (withPrefix) return withPrefix;
      throw usageProblem(
        `no run here matches ${quote(named.text)}`,
        runArgumentHint(named.text, connection),
      );
    }
  }
}

const maxEntriesRead = 1000;

const inFull = 'name it in full as <projectId>/<name>/<executionId>';

function runArgumentHint(text: string, { journal, baseUrl }: Connection): string {
  const pasted = flawOfPaste(text);
  if (pasted) return `it ${pasted.flaw}: ${pasted.hint}`;
  const dashed = withDashes(text);
  if (dashed) return `did you mean ${dashed}?`;
  const near = didYouMean(text, automationsIn({ journal, baseUrl }));
  if (near) return near;
  return /^[\da-f]{1,3}$/i.test(text)
    ? 'a prefix of an id has at least 4 characters'
    : `see \`runctl list\`, or ${inFull}`;
}

/** `typed` is the rest of the argument besides the id: the automation, and perhaps its project. */
function findById(executionId: string, connection: Connection, typed?: NamedAutomation): RunHandle {
  const { journal, baseUrl, settings, context } = connection;
  const recorded = journal.find(executionId, { baseUrl });
  refuseRunOfOtherBaseUrl(executionId, connection);
  const target: Target | undefined = typed
    ? {
        projectId: typed.projectId ?? requiredValue('project', settings),
        automationName: typed.automationName,
      }
    : recorded?.target;
  if (!target) {
    throw usageProblem(
      `run ${executionId} is not in this machine's journal`,
      `${inFull}, or as <name>/<executionId> with --project`,
    );
  }
  if (recorded && pathOf(target) !== pathOf(recorded.target)) {
    throw usageProblem(
      `run ${executionId} is a run of ${fullNameOf(recorded.target)}, not of ${fullNameOf(target)}`,
      `\`runctl ${context.command} ${executionId}\``,
    );
  }
  return runHandleOf(
    { target, executionId: recorded?.executionId ?? executionId },
    recorded,
    context.clock,
  );
}

/** Throws a usage problem if the journal has the run under another base URL. */
function refuseRunOfOtherBaseUrl(executionId: string, { journal, baseUrl }: Connection): void {
  const other = journal.findElsewhere(executionId, baseUrl);
  if (other === undefined) return;
  throw usageProblem(
    `run ${executionId} belongs to ${other}, but the base URL is ${baseUrl}`,
    `add \`--base-url ${shellWord(other)}\`, or choose its profile with \`--profile <name>\``,
  );
}

/** The last run of one automation or of all. Undefined if the journal has no run or trigger. */
async function findLast(
  automation: NamedAutomation | undefined,
  connection: Connection,
): Promise<RunHandle | undefined> {
  const { journal, baseUrl, context } = connection;
  const automations = automation ? [automation] : [];
  const { run, laterTrigger } = newestOf(journal.entries({ baseUrl, automations }));
  if (run) {
    if (automation && automation.projectId === undefined)
      checkOnlyProject(run, automation, connection);
    // An unresolved trigger may have started the run that it met, so one warning is enough.
    if (laterTrigger) warnOfLaterTrigger(laterTrigger, context);
    else warnOfOtherRun(run, connection);
    return runHandleOf(runOf(run), run, context.clock);
  }
  if (laterTrigger)
    throw usageProblem(
      lostTriggerText(laterTrigger),
      lostTriggerHint(laterTrigger, context.clock.nowMs()),
    );
  return undefined;
}

/** The newest run, and the newest trigger without a known run that is later than it. */
function newestOf(entries: Iterable<Entry>): { run?: RunEntry; laterTrigger?: UnresolvedTrigger } {
  let laterTrigger: UnresolvedTrigger | undefined;
  for (const entry of entries) {
    if (entry.kind !== 'unresolved') return { run: entry, laterTrigger };
    laterTrigger ??= entry;
  }
  return { laterTrigger };
}

/**
 * A name without a project must mean one automation. Only the newest entries are read, because
 * there may be very many.
 */
function checkOnlyProject(
  run: RunEntry,
  automation: NamedAutomation,
  { journal, baseUrl }: Connection,
): void {
  let read = 0;
  for (const entry of journal.entries({ baseUrl, automations: [automation] })) {
    if (++read > maxEntriesRead) return;
    if (entry.kind !== 'unresolved') checkSameProject(run, entry);
  }
}

function warnOfLaterTrigger(trigger: UnresolvedTrigger, { reporter, clock }: CommandContext): void {
  const { target } = trigger;
  const message = laterTriggerText(trigger, clock.nowMs());
  reporter.emit({ event: 'warning', name: 'unresolved_trigger', message, target });
}

/**
 * Warns if a later trigger was refused because another run was active, because the user may mean
 * that run.
 */
function warnOfOtherRun(
  { target, executionId }: RunEntry,
  { journal, baseUrl, context }: Connection,
): void {
  const refused = journal.otherActiveRun(baseUrl, { target, executionId });
  if (!refused) return;
  const message = otherRunText(target, refused);
  context.reporter.emit({ event: 'warning', name: 'other_run', message, target });
}

function checkSameProject({ target: one }: Entry, { target: other }: Entry): void {
  if (one.projectId === other.projectId) return;
  const projects = [one, other].map(fullNameOf);
  throw usageProblem(
    `${quote(one.automationName)} is in two projects: ${projects.join(' and ')}`,
    'add --project',
  );
}

/** How many runs are shown to choose from. */
const maxListed = 10;

const isIdPrefix = (text: string) => /^[\da-f-]{4,35}$/i.test(text);

function findByPrefix(
  text: string,
  { journal, baseUrl, context }: Connection,
): RunHandle | undefined {
  if (!isIdPrefix(text)) return undefined;
  const runs: RunEntry[] = [];
  for (const entry of journal.entries({ baseUrl, idPrefix: text })) {
    if (entry.kind !== 'unresolved') runs.push(entry);
    if (runs.length > maxListed) break;
  }
  const [first, ...others] = runs;
  if (!first) return undefined;
  if (others.length === 0) return runHandleOf(runOf(first), first, context.clock);
  const shown = runs.slice(0, maxListed);
  const idLength = lengthOfIds(shown.map(({ executionId }) => executionId));
  const choices = shown.map(({ target, executionId, startedAt, at }) => {
    const ago = formatAgo(context.clock.nowMs() - Date.parse(startedAt ?? at));
    return `${executionId.slice(0, idLength)}  ${quotedName(target)}, ${ago}`;
  });
  const number = runs.length > maxListed ? `more than ${maxListed}` : runs.length;
  const problem = usageProblem(
    `${number} runs begin with ${quote(text)}`,
    'type more characters of the id',
  );
  throw problem.with({ choices });
}
