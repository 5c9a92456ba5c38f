import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSecrets, misplacedApiKeys } from '../src/secrets.ts';
import { anyCharacter } from './helpers/any-character.ts';
import { encodings } from './helpers/encodings.ts';
import { cpuMsOf } from './helpers/real-time.ts';

const scrubberOf = (...secrets: string[]) => {
  const { protect, scrub } = createSecrets();
  for (const secret of secrets) protect(secret);
  return scrub;
};

/** What a header may carry, as keys are. */
const key = fc
  .string({
    unit: fc
      .integer({ min: 0x20, max: 0xff })
      .filter((code) => code < 0x7f || code > 0xa0)
      .map(String.fromCharCode),
    minLength: 4,
    maxLength: 40,
  })
  .filter((text) => text === text.trim());
const around = fc.string({ unit: anyCharacter, maxLength: 20 });

describe('a protected secret', () => {
  test.each(Object.entries(encodings))('is not left in a text that holds it %s', (_, encode) => {
    fc.assert(
      fc.property(key, around, around, (secret, before, after) => {
        const encoded = encode(secret);
        const scrubbed = scrubberOf(secret)(`${before}<${encoded}>${after}`);
        // A secret such as "cret" may stand in the mask itself.
        expect(scrubbed.replaceAll('[secret]', '')).not.toContain(encoded);
        expect(scrubbed).toContain('[secret]');
      }),
    );
  });

  test('is not left where it is part of a text that is base64 as a whole', () => {
    fc.assert(
      fc.property(key, fc.string({ maxLength: 8 }), fc.string({ maxLength: 8 }), (secret, before, after) => {
        fc.pre(Buffer.byteLength(secret) >= 8);
        const coded = Buffer.from(before + secret + after).toString('base64');
        const scrubbed = scrubberOf(secret)(coded);
        const left = scrubbed.split('[secret]').map((part) => part.length);
        expect(scrubbed).toContain('[secret]');
        // No more than the characters that the secret shares with its neighbours.
        expect(left[0]).toBeLessThanOrEqual(Math.ceil(Buffer.byteLength(before) / 3) * 4);
      }),
    );
  });

  test.each([
    ['a line break', '\n'],
    ['a line break of Windows', '\r\n'],
    ['a blank', ' '],
    ['the line break and the indent of a wrapped text', '\n    '],
    ['a zero-width space', '\u200b'],
    ['a soft hyphen', '\u00ad'],
    ['a tag character', '\u{e0041}'],
    ['an escape sequence', '\u001b[31m'],
    ['a bell', '\u0007'],
  ])('is found, plain and encoded, where it is split by %s', (_, separator) => {
    const secret = 'sk-live-0123456789abcdef';
    const scrub = scrubberOf(secret);
    for (const encode of Object.values(encodings)) {
      const encoded = encode(secret);
      // Once, as at the end of a line, and between all characters.
      const once = encoded.slice(0, 7) + separator + encoded.slice(7);
      const everywhere = [...encoded].join(separator);
      for (const split of [once, everywhere]) {
        expect(scrub(`the key <${split}> is bad`)).toBe('the key <[secret]> is bad');
      }
    }
  });

  test('takes no other text with it', () => {
    const scrub = scrubberOf('sk-0123456789abcdef');
    fc.assert(
      fc.property(around, (text) => {
        fc.pre(!text.includes('sk-0'));
        expect(scrub(text)).toBe(text);
      }),
    );
  });

  test('that holds another leaves nothing of itself', () => {
    expect(scrubberOf('pass', 'pass-word', 'user:pass-word')('user:pass-word pass-word pass')).toBe(
      '[secret] [secret] [secret]',
    );
  });

  test.each([
    ['<\\\\ key', '&lt;\\\\ key'],
    ['<\\\\ key', '&lt;\\\\\\\\ key'],
    ['<%25 key', '&lt;%25 key'],
    ['<&amp; key', '%3C&amp; key'],
    ['key<%', 'key&lt;%25'],
  ])('%j is found in %j, where what is there for one character could be two', (secret, text) => {
    expect(scrubberOf(secret)(`<${text}>`)).toBe('<[secret]>');
  });

  test.each([
    ['clé-secrète', 'cl%E9-secr%E8te'],
    ['sk & live', 'sk+%26+live'],
    ['a"b\'c<d>e&', 'a&quot;b&apos;c&lt;d&gt;e&amp;'],
    ['ab>>>>>yz', Buffer.from('ab>>>>>yz').toString('base64url')],
    ['ab?????yz', Buffer.from('ab?????yz').toString('base64url')],
  ])('%s is found as %s', (secret, text) => {
    expect(scrubberOf(secret)(`<${text}>`)).toBe('<[secret]>');
  });

  test.each([
    ['of eight characters', 'sk-12345', 'sk-1 2345', '[secret]'],
    ['of seven, which words may make up', 'sk-1234', 'sk-1 234', 'sk-1 234'],
    ['with visible characters between', 'sk-12345', 'sk-1[31m2345', 'sk-1[31m2345'],
    ['with a backslash before it', 'sk-12345', 'C:\\sk-12345', 'C:\\[secret]'],
  ])('%s takes with it what no reader sees, and no more', (_, secret, text, expected) => {
    expect(scrubberOf(secret)(text)).toBe(expected);
  });

  test('is found however often and wherever it stands', () => {
    expect(scrubberOf('key-1')('key-1key-1 x=key-1&y=KEY-1')).toBe('[secret][secret] x=[secret]&y=[secret]');
  });
});

test.each(['', 'a', 'abc'])('%j is too short to be searched for', (secret) => {
  expect(scrubberOf(secret)('an abc of everything')).toBe('an abc of everything');
});

test('a long secret in a long text takes no long time', () => {
  const secret = '%25\\\\&amp;+/='.repeat(20);
  const scrub = scrubberOf(secret);
  const texts = ['%25'.repeat(15_000), '\\'.repeat(30_000), secret.slice(0, -1).repeat(150), '&amp;'.repeat(10_000)];
  expect(cpuMsOf(() => texts.map(scrub))).toBeLessThan(400);
});

describe('a word of a command line', () => {
  test.each([
    ['sk-live-0123456789abcdef', true],
    ['--api-key=sk-live-0123456789abcdef', true],
    ['ghp0123456789abcdefghijklmnop', true],
    ['nightly', false],
    ['nightly-2026-11-22', false],
    ['00000000-0000-4000-8000-0123456789ab', false],
    ['a-very-long-name-of-an-automation', false],
    ['thequickbrownfoxjumps', false],
    ['20261122033000000', false],
    ['thequickbrownfoxjumps-0123456789abcdef', true],
  ])('%s may be an API key in the wrong place: %s', (word, isOne) => {
    expect(misplacedApiKeys([word]).length > 0).toBe(isOne);
  });
  test('is named with what it sets', () => {
    const key = 'sk-live-0123456789abcdef';
    expect(misplacedApiKeys(['trigger', `--api-key=${key}`])).toEqual([`--api-key=${key}`, key]);
    expect(misplacedApiKeys([`${key}=x`])).toEqual([`${key}=x`]);
  });
});
