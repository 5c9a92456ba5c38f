import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSecrets, maxSecret, misplacedApiKeys } from '../../src/system/secrets.ts';
import { anyCharacter } from '../helpers/any-character.ts';
import { encodings } from '../helpers/encodings.ts';
import { cpuMsOf } from '../helpers/real-time.ts';

const scrubberOf = (...secrets: string[]) => {
  const { protect, scrub } = createSecrets();
  for (const secret of secrets) protect(secret);
  return scrub;
};

/** Visible ASCII, as API keys are. */
const key = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 4,
  maxLength: 40,
});
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

  test.each(['\u200B', '\u202E', '\u00AD', '\0', '\u0007', '\u001B[0m', '\u001B]0;title\u0007'])(
    'is hidden even with %j in it, which a terminal does not show',
    (unseen) => {
      const scrub = scrubberOf('sk-0123456789abcdef');
      expect(scrub(`before ${unseen} sk-0123${unseen}456789abcdef after`)).toBe('before  [secret] after');
      expect(scrub(`before ${unseen} after`)).toBe(`before ${unseen} after`);
    },
  );

  test('is hidden without any other text', () => {
    const scrub = scrubberOf('sk-0123456789abcdef');
    fc.assert(
      fc.property(around, (text) => {
        fc.pre(!text.includes('sk-0'));
        expect(scrub(text)).toBe(text);
      }),
    );
  });

  test('is hidden completely if it contains another secret', () => {
    expect(scrubberOf('pass', 'pass-word', 'user:pass-word')('user:pass-word pass-word pass')).toBe(
      '[secret] [secret] [secret]',
    );
  });

  test.each([
    ['sk-12345', 'C:\\sk-12345', 'C:\\[secret]'],
    ['clé & secret', 'cl%c3%a9 %26 secret', '[secret]'],
    ['\u{1F511}-key', '\\uD83D\\udd11-key', '[secret]'],
    ['ab>>>>>yz', Buffer.from('ab>>>>>yz').toString('base64url'), '[secret]'],
    ['ab?????yz', Buffer.from('ab?????yz').toString('base64url'), '[secret]'],
    ['key-1', 'key-1key-1 x=key-1', '[secret][secret] x=[secret]'],
  ])('%s is hidden in %s', (secret, text, scrubbed) => {
    expect(scrubberOf(secret)(text)).toBe(scrubbed);
  });
});

test.each(['', 'a', 'abc'])('%j is too short to be searched for', (secret) => {
  expect(scrubberOf(secret)('an abc of everything')).toBe('an abc of everything');
});

test('a long secret is found in a long text without delay', () => {
  const secret = '%25\\\\&amp;+/='.repeat(20);
  const scrub = scrubberOf(secret, `${'\\'.repeat(30)}x`);
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
  test('is found behind the flag or variable that it sets', () => {
    const key = 'sk-live-0123456789abcdef';
    expect(misplacedApiKeys(['trigger', `--api-key=${key}`])).toEqual([`--api-key=${key}`, key]);
    expect(misplacedApiKeys([`${key}=x`])).toEqual([`${key}=x`]);
  });
});

test.each(['/', '[', 'a'])(
  'the longest API key is hidden, and one that is too long breaks nothing: %s',
  (character) => {
    const secrets = createSecrets();
    const longest = character.repeat(maxSecret);
    secrets.protect(character.repeat(100_000));
    secrets.protect(longest);
    expect(secrets.scrub(`% ${encodeURIComponent(longest)} ${JSON.stringify(longest)}`)).toBe('% [secret] "[secret]"');
  },
);
