import { validateHeaderValue } from 'node:http';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { accountOf, maskApiKey } from '../../src/settings/api-key.ts';
import { parseSetting, type StoredSettingName } from '../../src/settings/table.ts';
import { anyCharacter } from '../helpers/any-character.ts';

/** What is wrong with a text for a setting, which is said without a part of it that may be secret. */
function flawOf(key: StoredSettingName, text: string, source = 'RUNCTL_X'): string | undefined {
  const { problem } = parseSetting<StoredSettingName>(key, text, source);
  if (problem) {
    expect(problem).toMatchObject({ facts: { name: 'usage', message: expect.stringContaining(source) } });
    expect(JSON.stringify(problem)).not.toContain('hunter2');
    expect(problem.facts.cause).toBeUndefined();
  }
  return problem?.message;
}

describe('a base URL', () => {
  const host = 'https://api.example.com';

  test.each([
    [host, host],
    [`${host}//`, host],
    [`${host}/v0/`, host],
    [`${host}/tenant/v0/`, `${host}/tenant`],
    [`${host}/v01`, `${host}/v01`],
    [`${host}/mov0`, `${host}/mov0`],
    [`${host}/%40scope`, `${host}/%40scope`],
    ['HTTPS://API.Example.com:443/x', `${host}/x`],
    [`${host}:8443`, `${host}:8443`],
    ['http://localhost:8080', 'http://localhost:8080'],
    ['http://api.localhost', 'http://api.localhost'],
    ['http://127.1', 'http://127.0.0.1'],
    ['http://127.255.0.3', 'http://127.255.0.3'],
    ['http://[::1]:80/', 'http://[::1]'],
  ])('%s is taken as %s', (text, taken) => {
    for (const each of [text, taken])
      expect(parseSetting('baseUrl', each, 'x')).toMatchObject({ value: taken, text: taken });
  });

  test.each([
    ['http://api.example.com', 'https://'],
    ['http://localhost.example.com', 'https://'],
    ['http://127.0.0.1.example.com', 'https://'],
    ['http://notlocalhost', 'https://'],
    ['http://10.0.0.1', 'https://'],
    ['http://[::2]', 'https://'],
    ['https://user:hunter2@api.example.com', 'password'],
    ['https://hunter2@api.example.com', 'password'],
    ['https://user:pa#ss@api.example.com', 'user name or password'],
    ['https://user:12/ss@api.example.com', 'user name or password'],
    ['https://api.example.com/@team', '%40'],
    ['https://api.example.com/?', 'query'],
    ['https://api.example.com/?key=hunter2', 'query'],
    ['https://api.example.com/#hunter2', 'fragment'],
    ['https://api.example .com', 'space'],
    [' https://api.example.com', 'space'],
    ['https://api.exa\tmple.com', 'control'],
    ['https://api.example.com\r', 'carriage return'],
    ["'https://api.example.com'", 'quotes'],
    ['https://api.example.com\n', 'control'],
    ['https://api.example.com/\u0000', 'control'],
    ['api.example.com', 'https://'],
    ['localhost:8080', 'http://'],
    ['https:api.example.com', 'https://'],
    ['ftp://api.example.com', 'https://'],
    ['', 'https://'],
    ['https://', 'valid'],
    ['https://api.example.com:99999', 'valid'],
    ['https://"api.example.com"', 'valid'],
    ['https://{host}/v0', 'valid'],
    ['https://api.example.com;8443', 'valid'],
    ['https://api.exa\u200Bmple.com', 'invisible'],
  ])('%j is refused: %s', (text, why) => expect(flawOf('baseUrl', text)).toContain(why));
});

describe('an API key', () => {
  test.each(['keys', '!"#~', 'keys\n', 'keys\r\n', 'keys\n\r\n', 'k'.repeat(2048)])(
    '%j is taken without the line breaks at its end',
    (text) => {
      expect(parseSetting('apiKey', text, 'x').value).toBe(text.trimEnd());
    },
  );

  test.each([
    ['', 'empty'],
    ['\n', 'empty'],
    ['abc', '4'],
    ['https://api.example.com', 'URL'],
    ['a'.repeat(2049), '2048'],
    ['hunter2\r', 'carriage return'],
    ['"hunter2"', 'quotes'],
    ['RUNCTL_API_KEY=hunter2', 'env file'],
    ['export RUNCTL_API_KEY=hunter2', 'env file'],
    ['hunter2\nx-evil: 1', 'line break'],
    ['hunter2\u0000', 'ASCII'],
    ['hunter2\u007f', 'ASCII'],
    ['hunter2\u0085x', 'ASCII'],
    [' hunter2', 'ASCII'],
    ['hunter2 ', 'ASCII'],
    ['\ufeffhunter2', 'byte order mark'],
    ['hunter2\u{1F511}', 'ASCII'],
  ])('%j is refused: %s', (text, why) => expect(flawOf('apiKey', text)).toContain(why));

  test('is either valid in a header, or refused without being quoted', () => {
    const text = fc.string({ unit: anyCharacter, minLength: 6, maxLength: 40 }).map((tail) => `hunter2${tail}`);
    fc.assert(
      fc.property(text, (key) => {
        const { value } = parseSetting('apiKey', key, 'x');
        if (value !== undefined) validateHeaderValue('x-api-key', value);
        expect(flawOf('apiKey', key) === undefined).toBe(value !== undefined);
      }),
    );
  });

  test.each([
    ['', '****'],
    ['12345678901', '****'],
    ['123456789012', '****9012'],
    ['sk-live-0123456789', '****6789'],
  ])('%j is shown as %s', (key, shown) => expect(maskApiKey(key)).toBe(shown));

  test('has an account that differs from those of other API keys, and does not contain it', () => {
    expect(accountOf('test-key')).toMatch(/^[0-9a-f]{8}$/);
    expect(accountOf('test-key')).not.toBe(accountOf('test-kez'));
  });
});

const examples = {
  apiKey: 'hunter2-0123456789=',
  baseUrl: 'https://api.example.com',
  project: '123e4567-e89b-42d3-a456-426614174000',
  requestTimeout: '5s',
  idempotencyKeys: 'ignored',
} as const;

describe.each(Object.entries(examples) as [keyof typeof examples, string][])(
  'what was copied together with the %s %s',
  (key, value) => {
    test.each([
      [`"${value}"`, 'quotes around it'],
      [`'${value}'`, 'quotes around it'],
      [`“${value}”`, 'quotes around it'],
      [`"${value}"\n`, 'quotes around it'],
      [`RUNCTL_SETTING=${value}`, 'env file'],
      [`export RUNCTL_SETTING="${value}"`, 'env file'],
      [`export NAME=${value}`, 'env file'],
      [`API_KEY=${value}\n`, 'env file'],
      [`api_token = ${value}`, 'env file'],
      [`RUNCTL_API_KEY=${value}\nRUNCTL_PROJECT=${value}\n`, 'env file'],
      [`${value}\r`, 'carriage return'],
      [`\uFEFF${value}`, 'byte order mark'],
      [Buffer.from(`\uFEFF${value}`, 'utf16le').toString(), 'UTF-16'],
    ])('is named in the message: %j, %s', (text, why) => expect(flawOf(key, text)).toContain(why));

    test('is nothing if there is only the value', () => expect(flawOf(key, value)).toBeUndefined());
  },
);

test.each(['QUJDREVGR0hJSg==', 'TOKENxyz=', 'a=b', "it's", '"open'])('%s may be an API key', (text) => {
  expect(parseSetting('apiKey', text.padStart(4, 'x'), 'x').problem).toBeUndefined();
});

test.each(["TOKEN=1 pass 'show runctl'", "'/opt/my tools/key'"])('%s may be an API key command', (text) => {
  expect(parseSetting('apiKeyCommand', text, 'x')).toMatchObject({ value: text });
});

test.each<[StoredSettingName, string, value: unknown, text?: string]>([
  ['apiKeyCommand', 'pass show runctl', 'pass show runctl'],
  ['project', 'AAAAAAAA-0000-4000-8000-000000000000', 'aaaaaaaa-0000-4000-8000-000000000000'],
  ['requestTimeout', '100ms', 100, '100ms'],
  ['requestTimeout', '10m', 600_000, '10m'],
  ['idempotencyKeys', 'Ignored', 'ignored'],
])('as %s, %s is read as %s', (key, given, value, text = String(value)) => {
  expect(parseSetting<StoredSettingName>(key, given, 'x')).toMatchObject({ value, text, source: 'x' });
});

test.each<[StoredSettingName, string, why: string]>([
  ['apiKeyCommand', ' ', 'empty'],
  ['apiKeyCommand', 'a\nb', 'line break'],
  ['project', 'nightly', 'UUID'],
  ['requestTimeout', '99ms', 'between'],
  ['requestTimeout', '600001ms', 'between'],
  ['requestTimeout', '30', 'duration'],
  ['idempotencyKeys', 'kept', 'honored'],
])('as %s, %j is refused: %s', (key, text, why) => expect(flawOf(key, text)).toContain(why));
