import { describe, expect, test } from 'vitest';
import { parseRecord, pathOf } from '../../src/journal/records.ts';
import { account, baseUrl, uuid } from './records.ts';

/** The fields of each kind of record, without which it is none. */
const kinds: Record<string, Record<string, string>> = {
  triggered: { idempotencyKey: 'key-1', attempt: 'attempt-1', account, body: '{}' },
  accepted: { idempotencyKey: 'key-1', executionId: uuid(1) },
  refused: { idempotencyKey: 'key-1', attempt: 'attempt-1', name: 'no_credits' },
  in_doubt: { idempotencyKey: 'key-1', reason: 'lost' },
  reused_key: { idempotencyKey: 'key-1' },
  superseded: { idempotencyKey: 'key-1' },
  status: { executionId: uuid(1), status: 'RUNNING' },
  not_found: { executionId: uuid(1) },
};
const target = 'automation/a/b';
const all = { schema: 1, at: '2026-11-22T03:00:00Z', baseUrl, target };
/** The record of a line, with its target as the path that the line has. */
function parsed(record: unknown) {
  const found = parseRecord(JSON.stringify(record));
  return found && { ...found, target: pathOf(found.target) };
}

describe('a line of the journal', () => {
  test.each(Object.entries(kinds))('of type %s is a record only with all its fields', (type, fields) => {
    const record = { type, ...all, ...fields };
    expect(parsed(record)).toEqual(record);
    for (const [name, value] of Object.entries(record)) {
      for (const wrong of [undefined, 1000, [value]]) {
        expect(parsed({ ...record, [name]: wrong }), `with ${name} ${wrong}`).toBeUndefined();
      }
    }
  });

  test.each([
    ['startedAt', 'S'],
    ['completedAt', 'C'],
    ['account', account],
    ['process', 'host 1 1'],
    ['activeExecutionId', uuid(1)],
    ['how', 'found'],
    ['creditsCharged', 0.5],
    ['first', true],
    ['userProvided', false],
    ['isLast', true],
    ['a field of a later version', ['any']],
  ])('may have %s as well, of the right type', (name, value) => {
    const record = { type: 'status', ...all, ...kinds.status, [name]: value };
    expect(parsed(record)).toEqual(record);
    const isKnown = !name.includes(' ');
    expect(parsed({ ...record, [name]: { value } }) === undefined).toBe(isKnown);
  });

  test('may say the status of a run that was accepted', () => {
    const record = { type: 'accepted', ...all, ...kinds.accepted, status: 'RUNNING' };
    expect(parsed(record)).toEqual(record);
    expect(parsed({ ...record, status: 1 })).toBeUndefined();
  });

  const status = { type: 'status', ...all, ...kinds.status };
  test.each<[string, unknown]>([
    ['text', 'status'],
    ['nothing', null],
    ['a list', [status]],
    ['a type that nobody knows', { ...status, type: 'paused' }],
    ['a type of 1.0.0-rc.1', { type: 'keys_seen', ...all, treatment: 'ignored' }],
    ['a type that every object has', { ...status, type: 'toString' }],
    ['a later schema', { ...status, schema: 2 }],
    ['a time that nobody can read', { ...status, at: 'yesterday' }],
    ['a target that is none', { ...status, target: 'nightly' }],
  ])('with %s is no record', (_, value) => {
    expect(parsed(value)).toBeUndefined();
  });

  test('that is torn is no record', () => {
    const line = JSON.stringify(status);
    expect(parseRecord(line.slice(0, -1))).toBeUndefined();
    expect(parseRecord(line.slice(1))).toBeUndefined();
    expect(parseRecord('')).toBeUndefined();
  });
});
