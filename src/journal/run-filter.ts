import { lastStatusOf, type Target } from '../runs/run.ts';
import type { JournalRecord } from './record.ts';
import type { JournalRun } from './runs-of.ts';
import { pathOf, targetOf } from './target-path.ts';

export interface RunFilter {
  /** Undefined for every address. */
  baseUrl?: string;
  target?: Target;
  /** An automation's name, in whatever project unless `projectId` says. */
  automation?: string;
  /** Of no effect without `automation`. */
  projectId?: string;
  /** The last known state, in any case: as `lastStatusOf` says it. */
  state?: string;
}

/** What the text of every matching record's line holds. */
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

export function isInState(run: JournalRun, { state }: RunFilter): boolean {
  return state === undefined || lastStatusOf(run).toUpperCase() === state.toUpperCase();
}

function targetIn({ target, automation, projectId }: RunFilter): Target | undefined {
  if (target || automation === undefined || projectId === undefined) return target;
  return { family: 'automation', projectId, automationName: automation };
}
