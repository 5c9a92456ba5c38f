import type { Target } from '../runs/run.ts';
import { type JournalRecord, pathOf, targetOf } from './records.ts';

export interface RunFilter {
  baseUrl?: string;
  target?: Target;
  automation?: string; // in any project unless `projectId` is given
  projectId?: string;
  since?: string; // ISO 8601: files that hold nothing from then on are not read, so older runs may lack records
  /** What is enough for the caller: what a checkpoint keeps, the newest `keptRuns` runs, or the runs with a status. */
  only?: 'kept' | 'newest' | { status: string };
}

export function needleOf(filter: RunFilter): string | undefined {
  const target = targetIn(filter);
  if (target) return JSON.stringify(pathOf(target));
  return filter.automation === undefined ? undefined : JSON.stringify(`/${filter.automation}`).slice(1);
}

export function isMatch(record: JournalRecord, filter: RunFilter): boolean {
  if (filter.baseUrl !== undefined && record.baseUrl !== filter.baseUrl) return false;
  const target = targetIn(filter);
  if (target) return record.target === pathOf(target);
  if (filter.automation === undefined) return true;
  const found = targetOf(record.target);
  return found.family === 'automation' && found.automationName === filter.automation;
}

function targetIn({ target, automation, projectId }: RunFilter): Target | undefined {
  if (target || automation === undefined || projectId === undefined) return target;
  return { family: 'automation', projectId, automationName: automation };
}
