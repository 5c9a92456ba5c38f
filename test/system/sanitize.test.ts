import { Terminal } from '@xterm/headless';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  sanitize,
  sanitizeJson,
  sanitizeLine,
  withoutCommands,
  withoutCommandsInJson,
} from '../../src/system/sanitize.ts';
import { anyCharacter } from '../helpers/any-character.ts';
import { propertyRuns } from '../helpers/property-runs.ts';

const esc = '\u001B';

const sequences = [
  `${esc}[31m`,
  `${esc}[2J`,
  `${esc}]0;title\u0007`,
  `${esc}]8;;http://x${esc}\\`,
  `${esc}P`,
  `${esc}(0`,
];
const ofSequences = `${esc}\u009B\u009D[];m31A\\\u0007\b\u007F\0\r\n\t`;
const unseen = '\u202E\u2066\u2069\u200B\u200F\u061C\uFEFF\u{E0041}\u206A\u180E\u00AD\u{1D173}\u2028';

/** Text as an attacker or an accident would send it. */
const hostile = fc.string({
  unit: fc.oneof(
    fc.constantFrom(...sequences, ...ofSequences, ...unseen, ' ', 'é', '漢', '👩‍👩‍👧', '\uD83D'),
    fc.string({ unit: anyCharacter, minLength: 1, maxLength: 1 }),
  ),
  maxLength: 40,
  size: 'max',
});

const controls = /(?![\t\n])\p{Cc}/u;
const bidi = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/;
const hidden = /(?!\u200C|\u200D|[\uFE0E\uFE0F])[\p{Default_Ignorable_Code_Point}\u2028\u2029\uFFF9-\uFFFB]/u;

describe('sanitize', () => {
  test.each([
    [`${esc}[31mred${esc}[0m`, 'red'],
    ['\u009B31mred', 'red'],
    [`${esc}]0;a new title\u0007done`, 'done'],
    [`${esc}]8;;https://evil.test${esc}\\click${esc}]8;;${esc}\\`, 'click'],
    [`${esc}[2J${esc}[Hgone`, 'gone'],
    ['50 %\r100 %', '50 %\n100 %'],
    ['one\r\ntwo', 'one\ntwo'],
    ['a\tb\nc', 'a\tb\nc'],
    ['\u0007\b\u007F\0', ''],
    ['user\u202Egnp.exe', 'usergnp.exe'],
    ['\u2066a\u2069\u200Bb\uFEFF', 'ab'],
    ['\u{E0001}\u{E0041}a\u206Ab\u00ADc\u{1D173}d\u{1BCA0}e\u180Ef\uFFF9g\u{E0100}', 'abcdefg'],
    ['漢字 é 👩‍👩‍👧 ✔ ☺️ می‌خواهم', '漢字 é 👩‍👩‍👧 ✔ ☺️ می‌خواهم'],
  ])('makes %j %j', (text, harmless) => expect(sanitize(text)).toBe(harmless));

  test('lets no control, escape, bidirectional or hidden character through, whatever it is given', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const harmless = sanitize(text);
        for (const pattern of [controls, bidi, hidden]) expect(harmless).not.toMatch(pattern);
      }),
      { numRuns: propertyRuns(2_000) },
    );
  });

  test('changes nothing in a text that was sanitized before', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(sanitize(sanitize(text))).toBe(sanitize(text));
      }),
    );
  });

  test('leaves plain text as it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', 'Z', '漢', 'é', ' ', '\n', '-', '🚀') }), (text) => {
        expect(sanitize(text)).toBe(text);
      }),
    );
  });
});

test('sanitizeLine makes one line of a text, without superfluous blanks', () => {
  expect(sanitizeLine(`  one\r\n two\t${esc}[1mthree\u00A0 `)).toBe('one two three');
  fc.assert(
    fc.property(hostile, (text) => {
      const line = sanitizeLine(text);
      expect(line).not.toMatch(/\p{Cc}|\s{2}|^\s|\s$/u);
      expect(line).not.toMatch(bidi);
    }),
  );
});

test('sanitizeJson writes the same document in harmless characters', () => {
  expect(sanitizeJson(JSON.stringify({ a: 'x\u202Ey\u009Bz' }))).toBe('{"a":"x\\u202ey\\u009bz"}');
  fc.assert(
    fc.property(
      fc.dictionary(hostile, fc.oneof(hostile, fc.array(hostile))),
      fc.constantFrom(0, 2),
      (document, indent) => {
        const json = sanitizeJson(JSON.stringify(document, null, indent));
        expect(json).not.toMatch(controls);
        expect(json).not.toMatch(bidi);
        expect(json).not.toMatch(hidden);
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(document)));
      },
    ),
  );
});

describe('a terminal that shows sanitized text', () => {
  const terminal = new Terminal({ cols: 400, rows: 5, allowProposedApi: true });
  const answers: string[] = [];
  terminal.onData((data) => answers.push(data));
  terminal.onTitleChange((title) => answers.push(title));
  terminal.onBell(() => answers.push('bell'));

  async function shown(text: string) {
    terminal.reset();
    await new Promise<void>((resolve) => terminal.write(`above\r\n<${text}>\r\nbelow`, resolve));
    const { active } = terminal.buffer;
    const lines = [0, 1, 2, 3].map((row) => active.getLine(row)?.translateToString(true));
    const isPlain = active.getLine(2)?.getCell(0)?.isAttributeDefault();
    return { lines, answers: answers.splice(0), isPlain, cursor: [active.cursorX, active.cursorY] };
  }

  test('keeps each line on its line, changes no color, and answers no query', async () => {
    await fc.assert(
      fc.asyncProperty(hostile, async (text) => {
        const line = sanitizeLine(text);
        // The terminal stores half a surrogate pair in its own way.
        fc.pre(line.isWellFormed());
        const { lines, ...rest } = await shown(line);
        expect(lines).toEqual(['above', `<${line}>`, 'below', '']);
        expect(rest).toEqual({ answers: [], isPlain: true, cursor: [5, 2] });
      }),
      { numRuns: propertyRuns(1_000) },
    );
  });
});

test.each([
  ['::set-output name=a::b', ': :set-output name=a: :b'],
  ['fine\n  ::add-mask::a', 'fine\n  : :add-mask: :a'],
  ['in the middle ::add-mask::a', 'in the middle : :add-mask: :a'],
  ['\u0085::Group::a', '\u0085: :Group: :a'],
  [':::notice::a', ':: :notice: :a'],
  ['[::1]:8080', '[::1]:8080'],
  ['###[group]a', '### [group]a'],
  ['anywhere ##[command]rm', 'anywhere ## [command]rm'],
  ['a: b', 'a: b'],
])('nothing in %j is obeyed by the runner', (text, shown) => {
  expect(withoutCommands(text)).toBe(shown);
});

test('a JSON document without commands is the same document', () => {
  const document = { a: '##[group]', b: ['###[x', '::error::'] };
  const json = withoutCommandsInJson(JSON.stringify(document));
  expect(json).not.toContain('##[');
  expect(JSON.parse(json)).toEqual(document);
});
