import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { readErrorBody } from '../../src/service/error-body.ts';
import { anyCharacter } from '../helpers/any-character.ts';
import { propertyTimeoutMs } from '../helpers/property-runs.ts';
import { cpuMsOf } from '../helpers/real-time.ts';

vi.setConfig({ testTimeout: propertyTimeoutMs });

const executionId = '6f1c9f5e-3a53-4c1b-9f0a-0d6f2c1f8a11';
const code = 'runAlreadyActive';
const message = 'The same Automation is already running';
const read = (body: unknown) => readErrorBody(JSON.stringify(body));

describe('an error body', () => {
  test.each<[string, unknown, { code?: string; message?: string; executionId?: string }]>([
    ['a string', { error: code }, { code }],
    ['a sentence', { error: message }, { message }],
    ['a code and a sentence', { error: code, message }, { code, message }],
    ['nested', { error: { code, message, executionId } }, { code, message, executionId }],
    ['a list', { errors: [{ code, detail: message }] }, { code, message }],
    ['a bare list', [{ code, message }], { code, message }],
    ['data', { data: { error: { code, message, executionId } } }, { code, message, executionId }],
    ['problem+json', { type: 'about:blank', title: code, detail: message, code }, { code, message }],
    ['problem+json with a type', { type: `https://x.test/problems/${code}`, detail: message }, { code, message }],
    ['problem+json with a fragment', { type: `https://x.test/problems#${code}`, title: message }, { code, message }],
    ['problem+json with a URN', { type: `urn:problem:${code}`, title: message }, { code, message }],
    ['problem+json with a code as its title', { type: 'https://x.test/problems/y', title: code }, { code }],
    ['problem+json that says nothing', { type: 'about:blank', status: 422 }, {}],
    ['OAuth', { error: 'invalid_token', error_description: 'gone' }, { code: 'invalid_token', message: 'gone' }],
    ['AWS', { __type: 'X', message: 'no' }, { message: 'no' }],
    ['a JSON string', message, { message }],
    ['an empty object', {}, {}],
    ['null', null, {}],
    ['a number', 42, {}],
    ['fields of the wrong type', { code: 17, message: { a: 1 }, error: null, executionId: 5 }, {}],
    ['an id that is none', { code, executionId: 'nightly' }, { code }],
    ['an id in capitals', { executionId: executionId.toUpperCase() }, { executionId: executionId.toUpperCase() }],
    ['an id under another name', { details: { activeExecutionId: executionId } }, { executionId }],
    ['an id in a sentence', { detail: `run ${executionId}` }, { message: `run ${executionId}`, executionId }],
    ['an id beside the word for it', { kind: 'execution', id: executionId }, { executionId }],
    ['the outer code before the inner', { code: 'outer', error: { code: 'inner' } }, { code: 'outer' }],
    ['a type without a name', { type: 'https://x.test/problems/' }, {}],
    ['a type of several words', { type: 'out of order' }, {}],
    ['a blank message', { message: ' ', detail: message }, { message }],
    ['an empty message', { message: '', detail: message }, { message }],
    ['lines and blanks', { message: ' a\n\n\tb  ' }, { message: 'a b' }],
  ])('is read in the shape "%s"', (_, body, expected) => {
    const { mentions: _names, isJson: _isJson, ...facts } = read(body);
    expect(facts).toEqual({ code: undefined, message: undefined, executionId: undefined, ...expected });
  });

  const places = {
    code: 'code errorCode error_code serviceCode name reason type error errors codes',
    message: 'message detail error_description description error title reason errors',
    executionId: 'executionId activeExecutionId runningExecutionId execution_id runId',
  };
  const placed = (['code', 'message', 'executionId'] as const).flatMap((fact) =>
    places[fact].split(' ').map((field) => ({ fact, field })),
  );
  test.each(placed)('has its $fact in the field $field, alone or in a list', ({ fact, field }) => {
    const value = { code, message, executionId }[fact];
    expect([read({ [field]: value })[fact], read({ [field]: [value] })[fact]]).toEqual([value, value]);
  });

  test('is read as deep as five objects in objects, and twenty items of a list', () => {
    const wrapped = (depth: number): unknown => (depth === 0 ? { code } : { data: wrapped(depth - 1) });
    expect([read(wrapped(5)).code, read(wrapped(6)).code]).toEqual([code, undefined]);
    const listed = (before: number) => [...Array(before).fill({}), { code }];
    expect([read(listed(19)).code, read(listed(20)).code]).toEqual([code, undefined]);
  });

  test.each<[string, string, string | undefined]>([
    ['nothing', '', undefined],
    ['blanks', ' \r\n ', undefined],
    ['plain text', 'upstream timed out\n', 'upstream timed out'],
    ['broken JSON', '{"code":', '{"code":'],
    ['a page with a title', '<!doctype html><html><title>502 Bad Gateway</title><h1>nginx</h1>', '502 Bad Gateway'],
    ['a page with a title that has attributes', '<title lang="en">Bad Gateway</title><p>nginx', 'Bad Gateway'],
    ['a page without', '<html><style>h1 { color:red }</style><h1>Bad</h1><script>x()</script> gateway', 'Bad gateway'],
    [
      'a page with a script that is longer than what is read',
      `<h1>Bad</h1><script>${'x'.repeat(5000)}</script>`,
      'Bad',
    ],
    ['a page without an end of anything', '<p>Bad gateway<br>now', 'Bad gateway now'],
    ['two comparisons', 'credits < 0 or > 5', 'credits < 0 or > 5'],
    ['a comparison, not a page', 'credits < 0', 'credits < 0'],
  ])('has a message of one line if it is %s', (_, text, expected) =>
    expect(readErrorBody(text).message).toBe(expected),
  );

  test.each([
    ['text', `runAlreadyActive: execution ${executionId} is running`, executionId],
    ['text with a label', `runAlreadyActive (executionId=${executionId})`, executionId],
    ['text with a label of two words', `runAlreadyActive, execution_id: ${executionId}`, executionId],
    ['a page', `<html><title>Conflict</title><p>runAlreadyActive <b>Execution</b>: <i>${executionId}</i>`, executionId],
    ['text with an id that is called otherwise', `runAlreadyActive in project ${executionId}`, undefined],
    ['text with two', `runAlreadyActive: run ${executionId}, run ${executionId.replace('6', '7')}`, undefined],
  ])('has the code and the run if they are somewhere in %s', (_, text, expected) => {
    const body = readErrorBody(text);
    expect(body.mentions(code)).toBe(true);
    expect(body.executionId).toBe(expected);
  });

  const trace = Array.from({ length: 3000 }, (_, n) => `at frame ${n} of a long trace`);
  test.each<[string, unknown]>([
    ['a code', { code }],
    ['any text in an error', { error: { odd: code } }],
    ['a list of errors', { errors: [{ code: 'other' }, { code }] }],
    ['a list at the top', [{ code }]],
    ['problem+json with the code in its type', { type: `https://x.test/problems/${code}`, status: 422 }],
    ['a detail that is an object', { detail: { code } }],
    ['a sentence with the code', { message: `Refused: ${code} (nightly)` }],
    ['a code in capitals', { code: 'RUN_ALREADY_ACTIVE' }],
    ['a code with a name space', { code: `automation.${code}` }],
    ['strings in a list', { errors: [code] }],
    ['strings in a list at the top', [code]],
    ['strings in a list of details', { error: { details: ['no', code] } }],
    ['the name of a field', { [code]: true }],
    ['the name of a field with words', { errors: { [code]: ['it is running'] } }],
    ['the name of an object', { error: { [code]: { since: '09:00' } } }],
    ['behind 64 KiB of trace', { trace, code }],
    ['behind 64 KiB in an error', { error: { trace: trace.join('\n'), code } }],
    ['a JSON string', code],
  ])('names its code in the shape: %s', (_, shape) => {
    const text = JSON.stringify(shape);
    for (const body of [readErrorBody(text), readErrorBody(JSON.stringify(shape, null, 2))]) {
      expect([body.mentions(code), body.mentions('notFound'), body.isJson]).toEqual([true, false, true]);
    }
  });

  test.each([false, null, 0, ''])('does not name a code whose field is %j', (value) => {
    expect(read({ [code]: value, message: 'no' }).mentions(code)).toBe(false);
  });

  test.each([
    ['{}', true],
    ['null', true],
    ['[]', true],
    ['', false],
    ['<html>', false],
    ['{"code":', false],
  ])('%j is JSON: %s', (text, isJson) => expect(readErrorBody(text).isJson).toBe(isJson));

  test.each([
    'runAlreadyActive',
    'RUN_ALREADY_ACTIVE',
    'run-already-active',
    'run already active',
    'Error: runAlreadyActive (nightly)',
    'conflict.runAlreadyActive',
  ])('names the code if its text is %j', (text) => {
    expect(readErrorBody(text).mentions(code)).toBe(true);
    expect(read({ error: { reason: text } }).mentions(code)).toBe(true);
  });

  test('may name the code in the title of a page', () => {
    const page = '<title>Run already active</title><h1>Run already active</h1>';
    expect(readErrorBody(page).mentions(code)).toBe(true);
  });

  test.each(['runAlreadyActiveX', 'notRunAlreadyActive', 'run', '', 'active'])(
    'does not name the code if its text is %j',
    (text) => {
      expect(readErrorBody(text).mentions(code)).toBe(false);
      expect(read({ code: text }).mentions(code)).toBe(false);
    },
  );

  test('has a long message cut', () => {
    expect(read({ message: 'x'.repeat(5000) }).message).toMatch(/^x{299}…$/);
    expect(read({ message: 'x'.repeat(300) }).message).toMatch(/^x{300}$/);
    expect(readErrorBody('x'.repeat(5000)).message).toHaveLength(300);
  });

  test('has no fields from the prototype of an object', () => {
    const body = readErrorBody(`{"__proto__":{"code":"a"},"constructor":"b","toString":"c","hasOwnProperty":"d"}`);
    expect(body.code).toBe('a');
    expect(({} as { code?: string }).code).toBeUndefined();
    for (const name of ['constructor', '__proto__', 'valueOf']) expect(read({}).mentions(name)).toBe(false);
  });

  const listOf = (item: string, length: number) => `[${`${item},`.repeat(length - 1)}${item}]`;
  const inLists = (item: string, depth: number): string => (depth === 0 ? item : listOf(inLists(item, depth - 1), 20));
  const bushy = (depth: number): string => (depth === 0 ? one : `{"list":${listOf(bushy(depth - 1), 20)},"code":"y"}`);
  const one = '{"code":"x"}';
  test.each([
    ['deep nesting', `${'{"error":'.repeat(50_000)}1${'}'.repeat(50_000)}`],
    ['deep lists', '['.repeat(50_000) + ']'.repeat(50_000)],
    ['a huge list', listOf(one, 100_000)],
    ['lists in lists', inLists(one, 4)],
    ['lists in objects in lists', `[${bushy(3)}]`],
    ['many fields', `{${Array.from({ length: 15_000 }, (_, n) => `"f${n}":"x"`)}}`],
    ['an unclosed page', '<a'.repeat(30_000)],
    ['unclosed scripts', '<script'.repeat(9_000)],
    ['many blanks', `${' '.repeat(60_000)}x`],
  ])('is read without delay if it is %s', (_, text) => {
    expect(cpuMsOf(() => readErrorBody(text).mentions(code))).toBeLessThan(400);
  });

  test('is read without an error, whatever it is', () => {
    const text = fc.oneof(fc.json(), fc.string(), fc.string({ unit: anyCharacter }));
    fc.assert(
      fc.property(text, fc.string(), (body, wanted) => {
        const read = readErrorBody(body);
        read.mentions(wanted);
        expect(read.message?.length ?? 0).toBeLessThanOrEqual(300);
      }),
    );
  });
});
