import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readConfigFile } from '../../src/config/config-file.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

function write(text: string, mode = 0o600): string {
  const path = join(temporaryFolder(), 'config.json');
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

describe('the config file', () => {
  test('that is not there leaves everything unset', () => {
    const folder = temporaryFolder();
    expect(readConfigFile(join(folder, 'config.json')).config).toEqual({});
    expect(readConfigFile('/dev/null/config.json').config).toEqual({});
    expect(readConfigFile(undefined).config).toEqual({});
  });

  test('keeps fields that nobody knows', () => {
    const text = '{"theme":1,"profiles":{"a":{"baseUrl":"u","note":[2]}}}';
    expect(readConfigFile(write(text)).config).toEqual(JSON.parse(text));
  });

  test('may begin with a byte order mark', () => {
    expect(readConfigFile(write('\ufeff{"profile":"a"}')).config).toEqual({ profile: 'a' });
  });

  test.each([
    ['', 'is not JSON'],
    ['{"profiles":{"a":{"apiKey":"hunter2" x', 'is not JSON'],
    ['[]', 'it is not an object'],
    ['null', 'it is not an object'],
    ['{"profile":1}', 'profile is not a string'],
    ['{"profiles":[]}', 'profiles is not an object'],
    ['{"profiles":{"a":"hunter2"}}', 'profiles.a is not an object'],
    ['{"profiles":{"a":{"requestTimeout":30}}}', 'profiles.a.requestTimeout is not a string'],
    ['{"profiles":{"a":{"apiKey":null}}}', 'profiles.a.apiKey is not a string'],
  ])('%j is refused: %s', (text, why) => {
    const path = write(text);
    expect(() => readConfigFile(path)).toThrow(why);
    expect(() => readConfigFile(path)).toThrow(path);
    expect(() => readConfigFile(path)).not.toThrow('hunter2');
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  test("that can't be read is refused with its path", () => {
    const path = join(temporaryFolder(), 'config.json');
    mkdirSync(path);
    expect(() => readConfigFile(path)).toThrow(`${path} can't be read (${path} is not a regular file)`);
  });

  const withKey = '{"profiles":{"a":{"apiKey":"hunter2"}}}';
  test.each([
    [withKey, 0o600, false],
    [withKey, 0o400, false],
    [withKey, 0o640, true],
    [withKey, 0o604, true],
    ['{"profiles":{"a":{"baseUrl":"u"}}}', 0o644, false],
  ])('%s with mode %o is exposed: %s', (text, mode, isExposed) => {
    expect(readConfigFile(write(text, mode)).isExposed).toBe(isExposed);
  });
});
