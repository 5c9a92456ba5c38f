import type { HowTriggered } from '../run/attribution.ts';
import { flawInPath } from '../run/automation-name.ts';
import type { ExitName } from '../run/exit-codes.ts';
import { fullNameOf, type Target } from '../run/run.ts';
import type { IfActive, TriggerKey } from '../run/trigger.ts';

interface Field<Value, IsRequired extends boolean> {
  type: 'string' | 'number' | 'boolean';
  isRequired: IsRequired;
  /** Only its type is used. */
  value?: Value;
}

const text = <Value extends string = string>(): Field<Value, true> => ({
  type: 'string',
  isRequired: true,
});
const optionalText = <Value extends string = string>(): Field<Value, false> => ({
  type: 'string',
  isRequired: false,
});
const optionalNumber = (): Field<number, false> => ({ type: 'number', isRequired: false });
const optionalFlag = <Value extends boolean = boolean>(): Field<Value, false> => ({
  type: 'boolean',
  isRequired: false,
});

/** Identifies a trigger, together with `baseUrl` and `target`. */
const key = { idempotencyKey: text() };
/**
 * There was no earlier record of this run or trigger, so a reader coming from the end can stop
 * here.
 */
const first = { first: optionalFlag() };

/**
 * The fields of each type of record in the order in which they are written, on which
 * `status-search.ts` relies: the idempotency key comes first. Every record also has
 * `schema`, `at`, `type`, `baseUrl` and `target`. The TypeScript types, the check of a line and
 * what is written follow from this table. A name has the same type in all records. Times are ISO
 * 8601, as the service sent them.
 */
export const recordFields = {
  /**
   * A process is about to send the trigger. It is one record for all its attempts until it gives
   * up, and doesn't mean that anything was started.
   */
  triggered: {
    ...key,
    attempt: text(), // a UUID: several processes may send the same idempotency key
    account: text(), // fingerprint of the API key
    body: text(), // the exact bytes of the request
    userProvided: optionalFlag(),
    ifActive: optionalText<IfActive>(),
    process: optionalText(), // its name from `Processes`
    ...first,
  },
  accepted: {
    ...key,
    account: optionalText(),
    executionId: text(),
    startedAt: optionalText(),
    completedAt: optionalText(),
    status: optionalText(),
    how: optionalText<HowTriggered>(),
    ...first,
  },
  /** This sending started no run. Another process may have sent the same idempotency key. */
  refused: {
    ...key,
    name: text<ExitName>(),
    reason: optionalText(),
    activeExecutionId: optionalText(), // the active run that caused the refusal
    attempt: text(),
  },
  /** The response to an attempt was lost, so the trigger stays unresolved. */
  in_doubt: {
    ...key,
    reason: text(),
    name: optionalText<ExitName>(), // `already_active` if a repeat met a conflict
    activeExecutionId: optionalText(), // the run that the conflict named
    attempt: optionalText(),
    isLast: optionalFlag<true>(), // the process won't send it again
  },
  /** The key had already started a run of another target, so there is nothing to resolve. */
  reused_key: key,
  /** A later trigger has a run, so this trigger's outcome no longer matters. */
  superseded: key,
  status: {
    executionId: text(),
    status: text(),
    startedAt: optionalText(),
    completedAt: optionalText(),
    creditsCharged: optionalNumber(),
    error: optionalText(),
    ...first,
  },
  /** The service no longer knows this run, which must have finished by then. */
  not_found: { executionId: text(), ...first },
} satisfies Record<string, Record<string, Field<unknown, boolean>>>;

type RecordType = keyof typeof recordFields;
type ValueOf<F> = F extends Field<infer Value, boolean> ? Value : never;
type ValuesOf<Fields> = {
  [Name in keyof Fields as Fields[Name] extends { isRequired: true } ? Name : never]: ValueOf<
    Fields[Name]
  >;
} & {
  [Name in keyof Fields as Fields[Name] extends { isRequired: false } ? Name : never]?: ValueOf<
    Fields[Name]
  >;
};
/**
 * What a record of this type says, without the fields that all records have. `FieldsOf<'not_found'>`
 * is `{ executionId: string; first?: boolean }`.
 */
export type FieldsOf<Type extends RecordType> = ValuesOf<(typeof recordFields)[Type]>;

/**
 * A record that is to be written. It may have other fields as well, because `storedRecord` keeps
 * only the fields of the table.
 */
export type NewRecord = {
  [Type in RecordType]: { type: Type; baseUrl: string; target: Target } & FieldsOf<Type>;
}[RecordType];

/**
 * A record with when it was written (`at`, ISO 8601). In the file, `target` is a path, which parses
 * faster.
 */
export type JournalRecord = Stored<NewRecord>;
export type RecordOf<T extends RecordType> = Extract<JournalRecord, { type: T }>;
type Stored<R> = R extends NewRecord ? R & { schema: 1; at: string } : never;

/** The record as it is stored: only its fields, in the order of the table. */
export function storedRecord(record: NewRecord, at: string): JournalRecord {
  const { type, baseUrl, target } = record;
  const values = new Map<string, unknown>(Object.entries(record));
  const fields = Object.keys(recordFields[type]).map((name) => [name, values.get(name)]);
  return { schema: 1, at, type, baseUrl, target, ...Object.fromEntries(fields) };
}

/**
 * Identifies a run. Different services may use the same id, and the case of an id doesn't matter.
 */
export const runRefOf = ({
  baseUrl,
  executionId,
}: {
  baseUrl: string;
  executionId: string;
}): string => `${baseUrl}\n${executionId.toLowerCase()}`;

/** Identifies a trigger. Only the target's path may contain a line break. */
export const triggerRefOf = ({ baseUrl, idempotencyKey, target }: TriggerKey): string =>
  `${baseUrl}\n${idempotencyKey}\n${pathOf(target)}`;

export const pathOf = (target: Target): string => `automation/${fullNameOf(target)}`;

const path = /^automation\/(?<projectId>[^/]+)\/(?<automationName>.+)$/s;
const targets = new Map<string, Target>();

/**
 * The target of a path from `pathOf`; undefined for other text. Many records share a few targets.
 */
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

type AnyField = Field<unknown, boolean>;
const tables = Object.entries<Record<string, AnyField>>(recordFields);
const requiredNames = new Map<unknown, string[]>(
  tables.map(([type, fields]) => [
    type,
    Object.keys(fields).filter((name) => fields[name]?.isRequired),
  ]),
);
/** The type of each field, whichever record has it. */
const fieldTypes = new Map(
  tables.flatMap(([, fields]) =>
    Object.entries(fields).map(([name, { type }]) => [name, type] as const),
  ),
);

/**
 * Undefined if a line is torn, has another schema or has a field of the wrong type. There may be
 * hundreds of thousands of lines, so the check is written by hand, and the parsed value isn't
 * copied: each of the two would take longer than the parsing itself.
 */
export function parseRecord(line: string): JournalRecord | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (!isStored(value)) return undefined;
    const target = parsePath(value.target);
    return target && (setTarget(value, target) as JournalRecord);
  } catch {
    return undefined;
  }
}

/** A record as it is in the file. */
interface StoredFields extends Record<string, unknown> {
  target: string;
}

function setTarget(fields: Record<string, unknown>, target: Target): object {
  fields.target = target;
  return fields;
}

/**
 * The records in the lines of several files, in the same order. They are parsed one at a time, so
 * that few of them are in memory at once.
 */
export function* parseLines(files: Iterable<readonly string[]>): Generator<JournalRecord> {
  for (const lines of files) {
    for (const line of lines) {
      const record = parseRecord(line);
      if (record) yield record;
    }
  }
}

/** The records of a file, in the order in which they were written. */
export const recordsIn = (bytes: Buffer, texts?: readonly string[]): JournalRecord[] => [
  ...parseLines([linesIn(bytes, texts)]),
];

/**
 * The lines of a file that aren't empty. With `texts`, only those that contain one of them.
 * Searching is ten times as fast as parsing.
 */
export function linesIn(bytes: Buffer, texts?: readonly string[]): string[] {
  if (texts && !texts.some((text) => bytes.includes(text))) return [];
  const lines = bytes.toString().split('\n');
  return lines.filter(
    (line) => line !== '' && (!texts || texts.some((text) => line.includes(text))),
  );
}

function isStored(value: unknown): value is StoredFields {
  if (typeof value !== 'object' || value === null) return false;
  const fields = value as Record<string, unknown>;
  if (!hasCommonFields(fields)) return false;
  if (requiredNames.get(fields.type)?.every((name) => fields[name] !== undefined) !== true)
    return false;
  for (const name in fields) {
    const type = fieldTypes.get(name);
    if (type !== undefined && typeof fields[name] !== type) return false;
  }
  return true;
}

function hasCommonFields({ schema, at, baseUrl, target }: Record<string, unknown>): boolean {
  return (
    schema === 1 &&
    typeof at === 'string' &&
    /^\d{4}-/.test(at) && // further years, to which no time can be added, are not ours
    !Number.isNaN(Date.parse(at)) &&
    typeof baseUrl === 'string' &&
    typeof target === 'string'
  );
}
