import type { JsonObject } from './json.ts';

/** What is triggered. Agents are discontinued but still answer. */
export type Target = AutomationTarget | AgentTarget;

export interface AutomationTarget {
  family: 'automation';
  /** UUID, lower case. */
  projectId: string;
  automationName: string;
}

export interface AgentTarget {
  family: 'agent';
  /** UUID, lower case. */
  agentId: string;
}

/** One execution of a target: all that is needed to ask for its status. */
export interface Run {
  target: Target;
  /** UUID, as the service writes it: it may mind the case. */
  executionId: string;
}

/** The service ends a run after three hours; this leaves a margin for clocks that differ. */
export const runLimitMs = 3.25 * 3_600_000;

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** A UUID of any version: the service does not say which it uses. */
export function isUuid(text: string): boolean {
  return uuid.test(text);
}

/** The final statuses of an Automation's run. */
export const finalStatuses = ['COMPLETED', 'FAILED', 'TIMED_OUT', 'CANCELLED'] as const;
export type FinalStatus = (typeof finalStatuses)[number];

/** Every status that the service documents. */
export const statuses = ['RUNNING', ...finalStatuses] as const;

// The service writes a status in capitals; another spelling of the same word must not make a watch poll for ever.
const normalise = (status: string) => status.trim().toUpperCase();

const isOneOf = (known: readonly string[], status: string) => known.includes(normalise(status));

export function isKnownStatus(status: string): boolean {
  return isOneOf(statuses, status);
}

/** Automations have four final statuses. For Agents each but RUNNING is final (docs/service.md, Final statuses stay). */
export function isFinal(target: Target, status: string): boolean {
  return target.family === 'agent' ? normalise(status) !== 'RUNNING' : isOneOf(finalStatuses, status);
}

/** The documented final status that a status is; undefined for any other word. */
export function finalStatusOf(status: string): FinalStatus | undefined {
  return finalStatuses.find((known) => known === normalise(status));
}

const byGravity: readonly FinalStatus[] = ['FAILED', 'TIMED_OUT', 'CANCELLED', 'COMPLETED'];

/** The graver of two final statuses. */
export function graverStatus(one: string, other: string): string {
  const rank = (status: string) => byGravity.indexOf(finalStatusOf(status) ?? 'COMPLETED');
  return rank(other) < rank(one) ? other : one;
}

/** The one status that is a success. */
export const isCompleted = (status: string): boolean => finalStatusOf(status) === 'COMPLETED';

/** The last status known, in a word; `not_found` where the service forgot the run, `unknown` where a trigger has none. */
export function lastStatusOf({ status, executionId }: { status: string | null; executionId: string | null }): string {
  return status ?? (executionId === null ? 'unknown' : 'not_found');
}

/** The target as a user would name it. */
export function nameOf(target: Target): string {
  return target.family === 'agent' ? `agent ${target.agentId}` : target.automationName;
}

/** Can this document of the service be about `target`? Names are compared by letters and digits, as spellings differ. */
export function isNamedBy(target: Target, { projectId, automationName, agentId }: JsonObject): boolean {
  if (target.family === 'agent') return isAlike(target.agentId, agentId);
  return isAlike(target.projectId, projectId) && isAlike(target.automationName, automationName);
}

const isAlike = (ours: string, theirs: unknown) => typeof theirs !== 'string' || lettersOf(theirs) === lettersOf(ours);

function lettersOf(name: string): string {
  const folded = name.normalize('NFKC').toLowerCase();
  return folded.replace(/[^\p{L}\p{N}]/gu, '') || folded;
}
