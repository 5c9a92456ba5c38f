import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type EntryFilter, isMatch, textsOf } from '../../src/journal/entry-filter.ts';
import { parseRecord, pathOf, recordsIn } from '../../src/journal/records.ts';
import type { Target } from '../../src/run/run.ts';
import { anyCharacter } from '../helpers/any-character.ts';
import { account, baseUrl, nightly, projectId, status as statusOf, uuid, weekly } from './records.ts';
import { lineOf } from './state-folder.ts';

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
const all = { schema: 1, at: '2026-11-22T03:00:00Z', baseUrl, target: 'automation/a/b' };
const status = { type: 'status', ...all, ...kinds.status };
/** The record of a line, with its target as the path that the line has. */
function parsed(record: unknown) {
  const found = parseRecord(JSON.stringify(record));
  return found && { ...found, target: pathOf(found.target) };
}

describe('a line of the journal', () => {
  test.each(Object.entries(kinds))('is a record of type %s only if it has all its fields', (type, fields) => {
    const record = { type, ...all, ...fields };
    expect(parsed(record)).toEqual(record);
    for (const [name, value] of Object.entries(record)) {
      for (const wrong of [undefined, 1000, [value]]) {
        expect(parsed({ ...record, [name]: wrong }), `with ${name} ${wrong}`).toBeUndefined();
      }
    }
  });

  test.each([
    ['status', 'RUNNING'],
    ['startedAt', 'S'],
    ['completedAt', 'C'],
    ['error', 'E'],
    ['reason', 'R'],
    ['account', account],
    ['process', 'host 1 1'],
    ['activeExecutionId', uuid(1)],
    ['how', 'found'],
    ['ifActive', 'skip'],
    ['creditsCharged', 0.5],
    ['first', true],
    ['userProvided', false],
    ['isLast', true],
    ['a field of a later version', ['any']],
  ])('may also have the field %s, but only of the right type', (name, value) => {
    const record = { type: 'accepted', ...all, ...kinds.accepted, [name]: value };
    expect(parsed(record)).toEqual(record);
    expect(parsed({ ...record, [name]: { value } }) === undefined).toBe(!name.includes(' '));
  });

  test.each<[string, unknown]>([
    ['text', 'status'],
    ['nothing', null],
    ['a list', [status]],
    ['a type of 1.0.0-rc.1', { type: 'keys_seen', ...all, treatment: 'ignored' }],
    ['a type that every object has', { ...status, type: 'toString' }],
    ['a later schema', { ...status, schema: 2 }],
    ['a time that nobody can read', { ...status, at: 'yesterday' }],
    ['a time to which none can be added', { ...status, at: '+012026-11-22T03:00:00Z' }],
  ])('is no record with %s', (_, value) => expect(parsed(value)).toBeUndefined());

  test.each([JSON.stringify(status).slice(0, -1), JSON.stringify(status).slice(1), ''])(
    'is no record if it is torn: %s',
    (line) => expect(parseRecord(line)).toBeUndefined(),
  );
});

describe('the path by which a record names its target', () => {
  const targets: fc.Arbitrary<Target> = fc.record({
    projectId: fc.uuid(),
    automationName: fc.string({ unit: anyCharacter, minLength: 1 }),
  });

  test('gives the target back', () => {
    fc.assert(
      fc.property(targets, (target) => {
        expect(parseRecord(JSON.stringify({ ...status, target: pathOf(target) }))?.target).toEqual(target);
      }),
    );
  });

  test.each([
    'automation/../x',
    'automation/x/..',
    'automation/x/.',
    'automation/x/\ud800',
    '',
    'nightly',
    'agent/a',
    'automation/x',
    'automation//x',
    'automation/x/',
    'other/x/y',
  ])('can not be %j', (path) => expect(parsed({ ...status, target: path })).toBeUndefined());
});

describe('a filter', () => {
  test.each<[EntryFilter, string[] | undefined]>([
    [{}, undefined],
    [{ baseUrl, automations: [] }, undefined],
    [{ hasRun: true }, ['"executionId"']],
    [{ target: nightly }, [`"automation/${projectId}/nightly"`]],
    [{ target: weekly, automations: [{ automationName: 'nightly' }] }, [`"automation/${projectId}/weekly/report"`]],
    [{ automations: [{ automationName: 'nightly', projectId }], hasRun: true }, ['/nightly"']],
    [{ automations: [{ automationName: 'nightly' }, { automationName: 'weekly' }] }, ['/nightly"', '/weekly"']],
    [{ automations: [{ automationName: 'a "b"' }] }, ['/a \\"b\\""']],
    [{ idPrefix: '4Bd' }, ['"4Bd', '"4bd', '"4BD']],
  ])('with %j searches lines for the texts %j, which every chosen record has', (filter, texts) => {
    expect(textsOf(filter)).toEqual(texts);
  });

  test.each<[string[] | undefined, number[]]>([
    [undefined, [1, 2, 3]],
    [[uuid(2)], [2]],
    [['FAILED'], [1, 3]],
    [
      [uuid(2), 'FAILED'],
      [1, 2, 3],
    ],
    [['é'], [3]],
    [['nothing'], []],
  ])('with the texts %j finds the records of the lines that have one of them', (texts, expected) => {
    const target = { ...nightly, automationName: 'zwölf é' };
    const records = [statusOf(1, 'FAILED'), statusOf(2, 'RUNNING'), statusOf(3, 'FAILED', target)];
    const bytes = Buffer.from(records.map((record) => lineOf(record, all.at)).join('{"torn"\n'));
    expect(recordsIn(bytes, texts)).toMatchObject(expected.map((n) => ({ executionId: uuid(n) })));
  });

  const stored = { schema: 1, at: '', type: 'not_found', baseUrl, executionId: '4B7c' } as const;
  test.each<[EntryFilter, Target, boolean]>([
    [{}, nightly, true],
    [{ baseUrl }, nightly, true],
    [{ baseUrl: `${baseUrl}/other` }, nightly, false],
    [{ projectId }, nightly, true],
    [{ projectId: 'another' }, nightly, false],
    [{ target: weekly }, weekly, true],
    [{ target: weekly }, nightly, false],
    [{ automations: [] }, nightly, true],
    [{ automations: [{ automationName: 'other' }, { automationName: 'nightly' }] }, nightly, true],
    [{ automations: [{ automationName: 'nightly' }] }, weekly, false],
    [{ automations: [{ automationName: 'weekly/report' }] }, weekly, true],
    [{ automations: [{ automationName: 'report' }] }, weekly, false],
    [{ automations: [{ automationName: 'nightly', projectId }] }, nightly, true],
    [{ automations: [{ automationName: 'nightly', projectId: 'another' }] }, nightly, false],
    [{ idPrefix: '4b7' }, nightly, true],
    [{ idPrefix: 'b7' }, nightly, false],
    [{ hasRun: true }, nightly, true],
  ])('with %j chooses a record of %s: %s', (filter, target, expected) => {
    expect(isMatch({ ...stored, target }, filter)).toBe(expected);
  });
});
