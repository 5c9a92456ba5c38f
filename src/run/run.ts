import { getBuiltinModule } from 'node:process';

/** An Automation. */
export interface Target {
  /** UUID, lower case. */
  projectId: string;
  automationName: string;
}

export interface Run {
  target: Target;
  /** Exactly as the service writes it, because case may matter to it. */
  executionId: string;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const isUuid = (text: string): boolean => uuid.test(text);

/** A UUID that was written without its dashes, as some programs do; undefined for another text. */
export function withDashes(text: string): string | undefined {
  const parts = /^([\da-f]{8})([\da-f]{4})([\da-f]{4})([\da-f]{4})([\da-f]{12})$/i.exec(text);
  return parts?.slice(1).join('-');
}

/** A name that is unique across projects: `<projectId>/<name>`. */
export const fullNameOf = ({ projectId, automationName }: Target): string =>
  `${projectId}/${automationName}`;

/** The case of the letters of an id doesn't matter. */
export const isSameId = (one: string | undefined, other: string | undefined): boolean =>
  one?.toLowerCase() === other?.toLowerCase();

/** The fields in which a document of the service may name its automation. */
interface Named {
  projectId?: unknown;
  automationName?: unknown;
}

/**
 * Whether this document can be about `target`. Names are compared by letters and digits, as spellings
 * differ.
 */
export const isNamedBy = (target: Target, { projectId, automationName }: Named): boolean =>
  isAlike(target.projectId, projectId) && isAlike(target.automationName, automationName);

const isAlike = (ours: string, theirs: unknown) =>
  typeof theirs !== 'string' || lettersOf(theirs) === lettersOf(ours);

function lettersOf(name: string): string {
  const folded = name.normalize('NFKC').toLowerCase();
  return folded.replace(/[^\p{L}\p{N}]/gu, '') || folded;
}

/** The global `crypto` would load twice as much code, and a trigger needs this module anyway. */
export const randomUuid = (): string => getBuiltinModule('node:crypto').randomUUID();

/**
 * How long a run took, from two of its times (ISO 8601). Undefined if one isn't known, or if it
 * ended before it began.
 */
export function durationMsOf(run: {
  startedAt?: string | null;
  completedAt?: string | null;
}): number | undefined {
  const tookMs = Date.parse(run.completedAt ?? '') - Date.parse(run.startedAt ?? '');
  return tookMs >= 0 ? tookMs : undefined;
}
