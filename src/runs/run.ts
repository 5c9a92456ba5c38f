import type { ExitName } from '../problems/exit-codes.ts';
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
  /** UUID, lower case. */
  executionId: string;
}

const automationEndings: Record<string, ExitName> = {
  COMPLETED: 'ok',
  FAILED: 'run_failed',
  TIMED_OUT: 'run_timed_out',
  CANCELLED: 'run_cancelled',
};

// The service writes a status in capitals; another spelling of the same word must not make a watch poll for ever.
const normalise = (status: string) => status.trim().toUpperCase();

export function isKnownState(status: string): boolean {
  return normalise(status) === 'RUNNING' || normalise(status) in automationEndings;
}

/** Automations have four final statuses. For Agents each but RUNNING is final (docs/service.md, Final statuses stay). */
export function isFinal(target: Target, status: string): boolean {
  return target.family === 'agent'
    ? normalise(status) !== 'RUNNING'
    : Object.hasOwn(automationEndings, normalise(status));
}

/** The last state known, in a word; of a run that the service forgot, and of a trigger that may have started none, too. */
export function lastStateOf({ status, executionId }: { status: string | null; executionId: string | null }): string {
  return status ?? (executionId === null ? 'unknown' : 'gone');
}

/** How a program that followed a run to this final state ends. */
export function endingOf(status: string): ExitName {
  const state = normalise(status);
  return (Object.hasOwn(automationEndings, state) && automationEndings[state]) || 'run_failed';
}

/** The target in words, as a user would name it. */
export function nameOf(target: Target): string {
  return target.family === 'agent' ? `agent ${target.agentId}` : target.automationName;
}

/**
 * May what the service says of a run be said of `target`? A name is compared by its letters and digits: the service may
 * write it in a way of its own.
 */
export function isNamedBy(target: Target, { projectId, automationName, agentId }: JsonObject): boolean {
  if (target.family === 'agent') return isAlike(target.agentId, agentId);
  return isAlike(target.projectId, projectId) && isAlike(target.automationName, automationName);
}

const isAlike = (ours: string, theirs: unknown) => typeof theirs !== 'string' || bare(theirs) === bare(ours);

function bare(name: string): string {
  const folded = name.normalize('NFKC').toLowerCase();
  return folded.replace(/[^\p{L}\p{N}]/gu, '') || folded;
}
