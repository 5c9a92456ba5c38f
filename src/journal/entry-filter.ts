import type { RunEntry } from '../run/entry.ts';
import type { Target } from '../run/run.ts';
import type { JournalPart } from './record-store.ts';
import { type JournalRecord, pathOf } from './records.ts';

/** With `sinceMs` or `files`, runs that began before the part that is read are left out. */
export interface EntryFilter extends Pick<JournalPart, 'sinceMs' | 'maxFiles'> {
  baseUrl?: string;
  target?: Target;
  /** All if it is empty. */
  automations?: readonly NamedAutomation[];
  projectId?: string;
  /**
   * The beginning of `executionId`, in upper or lower case: the service may use another case than
   * the user typed.
   */
  idPrefix?: string;
  /** Leaves out triggers without a run, which is faster. */
  hasRun?: boolean;
  /** In upper case: only what has one of these. */
  statuses?: readonly string[];
  /** Runs to include whatever their status. */
  alsoRuns?: readonly RunEntry[];
  /** Only what a poll may change: runs without a final status, and those that weren't found. */
  mayStillChange?: boolean;
}

/** An automation as named on a command line. Without a project, it means every project. */
export type NamedAutomation = Pick<Target, 'automationName'> & Partial<Target>;

/** Texts of which every line about these entries contains one. Undefined if there are none. */
export function textsOf(filter: EntryFilter): string[] | undefined {
  const { idPrefix, target, automations = [], hasRun } = filter;
  if (idPrefix !== undefined) {
    const spellings = [idPrefix, idPrefix.toLowerCase(), idPrefix.toUpperCase()];
    return [...new Set(spellings)].map((text) => JSON.stringify(text).slice(0, -1));
  }
  if (target) return [JSON.stringify(pathOf(target))];
  if (automations.length > 0)
    return automations.map(({ automationName }) => JSON.stringify(`/${automationName}`).slice(1));
  return hasRun ? ['"executionId"'] : undefined;
}

export function isMatch(record: JournalRecord, filter: EntryFilter): boolean {
  const { baseUrl, idPrefix, target, automations = [], projectId, hasRun } = filter;
  if (projectId !== undefined && record.target.projectId !== projectId) return false;
  if (baseUrl !== undefined && record.baseUrl !== baseUrl) return false;
  if (hasRun && !('executionId' in record)) return false;
  if (idPrefix !== undefined && !hasIdPrefix(record, idPrefix)) return false;
  if (target) return pathOf(record.target) === pathOf(target);
  return automations.length === 0 || isAmong(automations, record.target);
}

/** Was the target named, or was none named? */
export function isAmong(automations: readonly NamedAutomation[], target: Target): boolean {
  if (automations.length === 0) return true;
  return automations.some(
    ({ projectId, automationName }) =>
      target.automationName === automationName &&
      (projectId === undefined || target.projectId === projectId),
  );
}

const hasIdPrefix = (record: JournalRecord, prefix: string) =>
  'executionId' in record && record.executionId.toLowerCase().startsWith(prefix.toLowerCase());
