import type { HowTriggered } from '../run/attribution.ts';
import { flawInPath } from '../run/automation-name.ts';
import type { ExitName } from '../run/exit-codes.ts';
import { fullNameOf, type Target } from '../run/run.ts';
import type { IfActive, TriggerKey } from '../run/trigger.ts';

interface RunKey {
  baseUrl: string;
  target: Target;
  executionId: string;
}

/** Times are ISO 8601, as the service sent them. */
export type NewRecord = (
  | TriggeredRecord // an attempt is about to be sent
  | AcceptedRecord
  | RefusedRecord
  | InDoubtRecord // the answer to an attempt was lost: the trigger stays unresolved
  | ({ type: 'reused_key' } & TriggerKey) // the key had already started a run of another target, so there is nothing to resolve
  | ({ type: 'superseded' } & TriggerKey) // a later trigger has a run, so this trigger's outcome no longer matters
  | ({
      type: 'status';
      status: string;
      startedAt?: string;
      completedAt?: string;
      creditsCharged?: number;
      error?: string;
    } & RunKey)
  | ({ type: 'not_found' } & RunKey) // the service no longer knows this run, which must have finished by then
) & {
  /** There was no earlier record of this run or trigger, so a reader coming from the end can stop here. */
  first?: boolean;
};

interface TriggeredRecord extends TriggerKey {
  type: 'triggered';
  attempt: string; // a UUID: several attempts may share an idempotency key
  account: string; // fingerprint of the API key
  body: string; // the exact bytes of the request
  userProvided: boolean;
  process?: string; // its name from `Processes`
  ifActive?: IfActive;
}

interface AcceptedRecord extends TriggerKey, RunKey {
  type: 'accepted';
  status?: string;
  startedAt?: string;
  completedAt?: string;
  account?: string;
  how?: HowTriggered;
}

/** This attempt started no run. Another process may have sent the same idempotency key. */
interface RefusedRecord extends TriggerKey {
  type: 'refused';
  attempt: string;
  name: ExitName;
  reason?: string;
  activeExecutionId?: string; // the active run that caused the refusal
}

interface InDoubtRecord extends TriggerKey {
  type: 'in_doubt';
  reason: string;
  name?: ExitName; // `already_active` if a repeat met a conflict
  activeExecutionId?: string; // the run that the conflict named
  attempt?: string;
  isLast?: true; // the process won't send it again
}

/** A record with when it was written (`at`, ISO 8601). In the file, `target` is a path, which parses faster. */
export type JournalRecord = Stored<NewRecord>;
export type RecordOf<T extends NewRecord['type']> = Extract<JournalRecord, { type: T }>;
type Stored<R> = R extends NewRecord ? R & { schema: 1; at: string } : never;

/** Identifies a run. Different services may use the same id, and the case of an id doesn't matter. */
export const runIdOf = ({ baseUrl, executionId }: { baseUrl: string; executionId: string }): string =>
  `${baseUrl}\n${executionId.toLowerCase()}`;

/** Identifies a trigger. Only the target's path may contain a line break. */
export const triggerIdOf = ({ baseUrl, idempotencyKey, target }: TriggerKey): string =>
  `${baseUrl}\n${idempotencyKey}\n${pathOf(target)}`;

export const pathOf = (target: Target): string => `automation/${fullNameOf(target)}`;

const path = /^automation\/(?<projectId>[^/]+)\/(?<automationName>.+)$/s;
const targets = new Map<string, Target>();

/** The target of a path from `pathOf`; undefined for other text. Many records share a few targets. */
function parsePath(text: string): Target | undefined {
  const parsed = targets.get(text);
  if (parsed) return parsed;
  const { projectId, automationName } = path.exec(text)?.groups ?? {};
  if (projectId === undefined || automationName === undefined) return undefined;
  // `recover` sends what it finds here.
  if (flawInPath(projectId) || flawInPath(automationName)) return undefined;
  const target = { projectId, automationName };
  targets.set(text, target);
  return target;
}

const required: Record<JournalRecord['type'], string[]> = {
  triggered: ['idempotencyKey', 'attempt', 'account', 'body'],
  accepted: ['idempotencyKey', 'executionId'],
  refused: ['idempotencyKey', 'attempt', 'name'],
  in_doubt: ['idempotencyKey', 'reason'],
  reused_key: ['idempotencyKey'],
  superseded: ['idempotencyKey'],
  status: ['executionId', 'status'],
  not_found: ['executionId'],
};
const optional = [
  'status',
  'startedAt',
  'completedAt',
  'error',
  'account',
  'process',
  'ifActive',
  'how',
  'activeExecutionId',
  'reason',
];

/**
 * Undefined if a line is torn, has another schema or has a field of the wrong type. The check is written by hand, because
 * valibot takes longer than the parsing itself.
 */
export function parseRecord(line: string): JournalRecord | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isStored(value) ? ({ ...value, target: parsePath(value.target) } as JournalRecord) : undefined;
  } catch {
    return undefined;
  }
}

/** Has the file a line with one of these texts? */
export const hasText = (bytes: Buffer, texts: readonly string[] | undefined): boolean =>
  !texts || texts.some((text) => bytes.includes(text));

/** With `texts`, only the records of lines that contain one of them. Searching is ten times as fast as parsing. */
export function recordsIn(bytes: Buffer, texts?: readonly string[]): JournalRecord[] {
  if (!hasText(bytes, texts)) return [];
  const lines = bytes.toString().split('\n');
  const records: JournalRecord[] = [];
  for (const line of lines) {
    const isChosen = line !== '' && (!texts || texts.some((text) => line.includes(text)));
    const record = isChosen ? parseRecord(line) : undefined;
    if (record) records.push(record);
  }
  return records;
}

function isStored(value: unknown): value is { target: string } {
  const fields: Record<string, unknown> = Object(value);
  const { schema, type, at, baseUrl, target, creditsCharged = 0 } = fields;
  const { first = false, userProvided = false, isLast = false } = fields;
  return (
    schema === 1 &&
    typeof at === 'string' &&
    /^\d{4}-/.test(at) && // further years, to which no time can be added, are not ours
    !Number.isNaN(Date.parse(at)) &&
    typeof baseUrl === 'string' &&
    typeof target === 'string' &&
    parsePath(target) !== undefined &&
    typeof creditsCharged === 'number' &&
    typeof first === 'boolean' &&
    typeof userProvided === 'boolean' &&
    typeof isLast === 'boolean' &&
    typeof type === 'string' &&
    Object.hasOwn(required, type) &&
    required[type as JournalRecord['type']].every((name) => typeof fields[name] === 'string') &&
    optional.every((name) => fields[name] === undefined || typeof fields[name] === 'string')
  );
}
