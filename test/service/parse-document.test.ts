import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseResult, parseStatus } from '../../src/service/parse-document.ts';
import { isJsonObject, parseJson } from '../../src/system/json.ts';

const executionId = '6f1c9f5e-3a53-4c1b-9f0a-0d6f2c1f8a11';
const odd = [null, 7, -1, 1.5, '', 'x', true, [], {}, [1], { a: 1 }, Number.NaN, Number.POSITIVE_INFINITY];

describe('an execution object', () => {
  test('is read completely, and its unknown fields stay in the document', () => {
    const document = {
      executionId: executionId.toUpperCase(),
      status: 'COMPLETED',
      title: 'T',
      message: 'M',
      startedAt: '2026-11-21T09:00:00.000Z',
      completedAt: '2026-11-21T09:00:20+01:00',
      createdAt: '2026-11-21T09:00:00Z',
      creditsCharged: 12.5,
      mood: 'good',
    };
    const { mood: _, ...known } = document;
    expect(parseStatus(document)).toEqual({ ...known, isFinal: true, document });
  });

  test.each([{}, { error: 'x' }, ...[null, 3, '', ' ', ['RUNNING']].map((status) => ({ status }))])(
    'is not read without a status: %j',
    (document) => {
      expect(parseStatus(document)).toBeUndefined();
      expect(parseResult(document)).toBeUndefined();
    },
  );

  test.each([
    ['completedAt', '2026-11-21'],
    ['completedAt', '5'],
    ['completedAt', '2026-13-45T99:00:00Z'],
    ['completedAt', 1_790_000_000],
    ['completedAt', '0001-01-01T00:00:00Z'],
    ['startedAt', '1970-01-01T00:00:00'],
    ['createdAt', '1970-01-01T01:00:00+01:00'],
    ['creditsCharged', 'twelve'],
    ['creditsCharged', -5],
    ['creditsCharged', ''],
    ['creditsCharged', Number.POSITIVE_INFINITY],
    ['title', 5],
  ])('is read without its field %s if that is %j', (field, value) => {
    const read = parseStatus({ executionId, status: 'RUNNING', [field]: value });
    expect(read).toMatchObject({ status: 'RUNNING', isFinal: false, document: { [field]: value } });
    expect(read?.[field as 'title']).toBeUndefined();
  });

  test.each(['nightly', ''])('is not read with the id %j', (odd) => {
    expect(parseStatus({ executionId: odd, status: 'RUNNING' })).toBeUndefined();
  });

  test('has the same numbers whatever else is in the document', () => {
    for (const rest of ['', ',"x":"3e"', ',"x":12345678901234567890']) {
      const document = parseJson(`{"executionId":"${executionId}","status":"COMPLETED","creditsCharged":12.50${rest}}`);
      expect(isJsonObject(document) && parseStatus(document)?.creditsCharged).toBe(12.5);
    }
  });

  test('survives any value in any field', () => {
    const fields = ['startedAt', 'completedAt', 'createdAt', 'creditsCharged', 'title', 'message'];
    for (const field of fields) {
      for (const value of odd)
        expect(parseStatus({ executionId, status: 'RUNNING', [field]: value })?.status).toBe('RUNNING');
    }
  });
});

test.each(['0001-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z', '1969-12-31T19:00:00-05:00'])(
  'a queued run, whose times the service writes as %s, has not finished',
  (none) => {
    const queued = { executionId, status: 'QUEUED', startedAt: none, completedAt: none };
    expect(parseStatus(queued)?.isFinal).toBe(false);
  },
);

test.each([
  ['2026-11-21T09:00:00', '2026-11-21T09:00:00Z'],
  ['2026-11-21T09:00:00.123456', '2026-11-21T09:00:00.123456Z'],
  ['2026-11-21T09:00', '2026-11-21T09:00Z'],
  ['2026-11-21T09:00:00Z', '2026-11-21T09:00:00Z'],
  ['2026-11-21T09:00:00+05:30', '2026-11-21T09:00:00+05:30'],
  ['2026-11-21T09:00:00-0800', '2026-11-21T09:00:00-0800'],
])('the time %s is read as %s, in every time zone', (written, read) => {
  for (const field of ['startedAt', 'completedAt', 'createdAt'] as const) {
    expect(parseStatus({ executionId, status: 'RUNNING', [field]: written })?.[field]).toBe(read);
  }
  expect(parseResult({ status: 'COMPLETED', completedAt: written })?.completedAt).toBe(read);
});

describe('a result object', () => {
  test.each([
    ['text', 'text'],
    ['', ''],
    [null, undefined],
    [42, '42'],
    [false, 'false'],
    [['a', 1], '[\n  "a",\n  1\n]'],
    [{ rows: [] }, '{\n  "rows": []\n}'],
  ])('with the output %j has the text %j', (output, text) => {
    expect(parseResult({ status: 'COMPLETED', output })?.output).toBe(text);
  });

  test('keeps every digit of an output that is a number', () => {
    const document = parseJson('{"status":"COMPLETED","output":{"id":12345678901234567890}}');
    expect(isJsonObject(document) && parseResult(document)?.output).toContain('12345678901234567890');
  });

  test('is read whole', () => {
    const document = {
      executionId,
      status: 'FAILED',
      output: 'half',
      summary: { stepCount: 3, succeededSteps: 1, failedSteps: 1, skippedSteps: 1 },
      error: { type: 'step_failed', message: 'Step 2' },
      completedAt: '2026-11-21T09:00:20Z',
    };
    expect(parseResult(document)).toEqual({ ...document, isFinal: true, document });
  });

  test.each([
    [null, undefined],
    ['it broke', { message: 'it broke' }],
    [{ type: 'x' }, { type: 'x' }],
    [{ type: 5, message: 'm' }, { message: 'm' }],
    [5, undefined],
  ])('with the error %j has the error %j', (error, expected) => {
    expect(parseResult({ status: 'FAILED', error })?.error).toEqual(expected);
  });

  test('has only counts that are whole numbers', () => {
    const summary = { stepCount: 2.5, succeededSteps: -1, failedSteps: '3', skippedSteps: 4 };
    expect(parseResult({ status: 'FAILED', summary })?.summary).toEqual({ skippedSteps: 4 });
  });

  test('survives any value in any field', () => {
    for (const field of ['executionId', 'output', 'summary', 'error', 'completedAt']) {
      for (const value of odd) expect(parseResult({ status: 'RUNNING', [field]: value })?.status).toBe('RUNNING');
    }
  });
});

test('any document is read without an error, and a document with a status has one', () => {
  const fields = 'executionId summary error output creditsCharged completedAt __proto__';
  const name = fc.constantFrom(...fields.split(' '));
  const document = fc.oneof(fc.object(), fc.dictionary(fc.oneof(name, fc.string()), fc.jsonValue()));
  fc.assert(
    fc.property(document, (value) => {
      parseStatus(value as Record<string, unknown>);
      parseResult(value as Record<string, unknown>);
      const running = { ...value, executionId, status: 'RUNNING' };
      expect(parseStatus(running)?.document).toBe(running);
      expect(parseResult(running)?.document).toBe(running);
    }),
  );
});
