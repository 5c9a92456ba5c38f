import { validateHeaderValue } from 'node:http';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseSetting } from '../../src/config/setting-table.ts';
import { parseApiKey, parseApiKeyCommand, parseBaseUrl } from '../../src/config/setting-values.ts';
import { anyCharacter } from '../helpers/any-character.ts';

describe('a base URL', () => {
  test.each([
    ['https://api.example.com', 'https://api.example.com'],
    ['https://api.example.com/', 'https://api.example.com'],
    ['https://api.example.com//', 'https://api.example.com'],
    ['https://api.example.com/v0', 'https://api.example.com'],
    ['https://api.example.com/v0/', 'https://api.example.com'],
    ['https://api.example.com/tenant/a/', 'https://api.example.com/tenant/a'],
    ['https://api.example.com/tenant/v0/', 'https://api.example.com/tenant'],
    ['https://api.example.com/v01', 'https://api.example.com/v01'],
    ['https://api.example.com/mov0', 'https://api.example.com/mov0'],
    ['https://api.example.com/@scope', 'https://api.example.com/@scope'],
    ['HTTPS://API.Example.com:443/x', 'https://api.example.com/x'],
    ['https://api.example.com:8443', 'https://api.example.com:8443'],
    ['http://localhost:8080', 'http://localhost:8080'],
    ['http://api.localhost', 'http://api.localhost'],
    ['http://127.0.0.1:9/v0', 'http://127.0.0.1:9'],
    ['http://127.1', 'http://127.0.0.1'],
    ['http://127.255.0.3', 'http://127.255.0.3'],
    ['http://[::1]:80/', 'http://[::1]'],
  ])('%s is taken as %s', (text, taken) => {
    expect(parseBaseUrl(text)).toEqual({ value: taken });
    expect(parseBaseUrl(taken)).toEqual({ value: taken });
  });

  test.each([
    ['http://api.example.com', 'must begin with https://'],
    ['http://localhost.example.com', 'must begin with https://'],
    ['http://127.0.0.1.example.com', 'must begin with https://'],
    ['http://notlocalhost', 'must begin with https://'],
    ['http://10.0.0.1', 'must begin with https://'],
    ['http://[::2]', 'must begin with https://'],
    ['https://user:hunter2@api.example.com', 'user name or password'],
    ['https://hunter2@api.example.com', 'user name or password'],
    ['https://api.example.com/?', 'query or fragment'],
    ['https://api.example.com/?key=hunter2', 'query or fragment'],
    ['https://api.example.com/#hunter2', 'query or fragment'],
    ['https://api.example .com', 'a space or a control'],
    [' https://api.example.com', 'a space or a control'],
    ['https://api.exa\tmple.com', 'a space or a control'],
    ['https://api.example.com\n', 'a space or a control'],
    ['https://api.example.com/\u0000', 'a space or a control'],
    ['api.example.com', "doesn't begin with https://"],
    ['localhost:8080', "doesn't begin with http://"],
    ['https:api.example.com', "doesn't begin with https://"],
    ['ftp://api.example.com', "doesn't begin with https://"],
    ['', "doesn't begin with https://"],
    ['https://', 'is not a valid URL'],
    ['https://api.example.com:99999', 'is not a valid URL'],
  ])('%j is refused: %s', (text, why) => {
    const { problem } = parseSetting('baseUrl', text, 'RUNCTL_BASE_URL');
    expect(problem?.message).toContain(why);
    expect(problem?.message).toContain('RUNCTL_BASE_URL');
    expect(JSON.stringify(problem)).not.toContain('hunter2');
  });
});

test.each([
  ['pass show runctl', { value: 'pass show runctl' }],
  ['', { flaw: 'is empty' }],
  [' ', { flaw: 'is empty' }],
  ['a\nb', { flaw: 'contains a line break or another control character' }],
])('the command %j is read as %j', (text, parsed) => {
  expect(parseApiKeyCommand(text)).toEqual(parsed);
});

describe('the text of an API key', () => {
  test.each(['keys', '!"#~', 'keys\n', 'keys\r\n'])('%j is taken without its newline', (text) => {
    expect(parseApiKey(text)).toEqual({ value: text.replace(/\r?\n$/, '') });
  });

  test.each([
    ['', 'is empty'],
    ['\n', 'is empty'],
    ['abc', 'shorter than 4'],
    ['a'.repeat(2049), 'longer than 2048'],
    ['hunter2\n\n', 'line break'],
    ['hunter2\r', 'line break'],
    ['hunter2\nx-evil: 1', 'line break'],
    ['hunter2\u0000', 'visible ASCII'],
    ['hunter2\tx', 'visible ASCII'],
    ['hunter2\u007f', 'visible ASCII'],
    ['hunter2\u0085x', 'visible ASCII'],
    [' hunter2', 'visible ASCII'],
    ['hunter2 ', 'visible ASCII'],
    ['\u00a0hunter2', 'visible ASCII'],
    ['hunter2\u2026', 'visible ASCII'],
    ['\ufeffhunter2', 'visible ASCII'],
    ['hunter2\u{1F511}', 'visible ASCII'],
    ['hunter 2', 'visible ASCII'],
    ['hunter\u00e92', 'visible ASCII'],
  ])('%j is refused: %s', (text, why) => {
    expect(parseApiKey(text)).toEqual({ flaw: expect.stringContaining(why) });
  });

  test('of any form is either what a header can carry, or refused without a word of it', () => {
    const text = fc.string({ unit: anyCharacter, minLength: 6, maxLength: 40 }).map((tail) => `hunter2${tail}`);
    fc.assert(
      fc.property(text, (key) => {
        const { value, problem } = parseSetting('apiKey', key, 'RUNCTL_API_KEY');
        if (value !== undefined) validateHeaderValue('x-api-key', value);
        expect(JSON.stringify(problem) ?? '').not.toContain('hunter2');
        expect(problem?.facts.cause).toBeUndefined();
      }),
    );
  });
});
