import type { Target } from '../runs/run.ts';
import type { LogPart } from './log.ts';
import { type JournalRecord, pathOf, targetOf } from './records.ts';

/** With `sinceMs` or `files`, runs that began before what is read are left out. */
export interface RunFilter extends Pick<LogPart, 'sinceMs' | 'files'> {
  baseUrl?: string;
  target?: Target;
  automation?: string; // in any project unless `projectId` is given
  projectId?: string;
  /** What `executionId` begins with, in upper or lower case, as a service may answer with another than was typed. */
  idPrefix?: string;
  hasRun?: boolean; // without triggers that have no run, which is faster
}

/** What stands in every line of these runs, as one of several texts; undefined if nothing does. */
export function textsOf(filter: RunFilter): string[] | undefined {
  const { idPrefix, automation, hasRun } = filter;
  if (idPrefix !== undefined) {
    const spellings = [idPrefix, idPrefix.toLowerCase(), idPrefix.toUpperCase()];
    return [...new Set(spellings)].map((text) => JSON.stringify(text).slice(0, -1));
  }
  const target = targetIn(filter);
  if (target) return [JSON.stringify(pathOf(target))];
  if (automation !== undefined) return [JSON.stringify(`/${automation}`).slice(1)];
  return hasRun ? ['"executionId"'] : undefined;
}

export function isMatch(record: JournalRecord, filter: RunFilter): boolean {
  const { baseUrl, idPrefix, automation, hasRun } = filter;
  if (baseUrl !== undefined && record.baseUrl !== baseUrl) return false;
  if (hasRun && !('executionId' in record)) return false;
  if (idPrefix !== undefined && !hasIdPrefix(record, idPrefix)) return false;
  const target = targetIn(filter);
  if (target) return record.target === pathOf(target);
  if (automation === undefined) return true;
  const recorded = targetOf(record.target);
  return recorded.family === 'automation' && recorded.automationName === automation;
}

const hasIdPrefix = (record: JournalRecord, prefix: string) =>
  'executionId' in record && record.executionId.toLowerCase().startsWith(prefix.toLowerCase());

function targetIn({ target, automation, projectId }: RunFilter): Target | undefined {
  if (target || automation === undefined || projectId === undefined) return target;
  return { family: 'automation', projectId, automationName: automation };
}
