import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { shellWord } from '../../src/run/quote.ts';
import { changeConfigFile, readConfigFile } from '../../src/settings/config-file.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

function write(text: string, mode = 0o600): string {
  const path = join(temporaryFolder(), 'config.json');
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

const modeOf = (path: string) => statSync(path).mode & 0o777;
const contentOf = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
const chooseProd = (path: string) =>
  changeConfigFile(path, (config) => ({ ...config, profile: 'prod' }), createMemory());

describe('the config file', () => {
  test('leaves every setting unset if there is none', () => {
    for (const path of [join(temporaryFolder(), 'config.json'), '/dev/null/config.json', undefined]) {
      expect(readConfigFile(path).config).toEqual({});
    }
  });

  test.each([
    ['', 'JSON'],
    ['{"profiles":{"a":{"apiKey":"hunter2" x', 'JSON'],
    ['[]', 'it is not'],
    ['null', 'it is not'],
    ['{"profile":1}', 'profile is not'],
    ['{"profiles":[]}', 'profiles is not'],
    ['{"profiles":{"a":"hunter2"}}', 'profiles.a is not'],
    ['{"profiles":{"a":{"requestTimeout":30}}}', 'profiles.a.requestTimeout is not'],
    ['{"profiles":{"a":{"apiKey":null}}}', 'profiles.a.apiKey is not'],
  ])('%j is refused: %s', async (text, why) => {
    const path = write(text);
    for (const use of [async () => readConfigFile(path), () => chooseProd(path)]) {
      await expect(use()).rejects.toThrow(why);
      await expect(use()).rejects.toThrow(path);
      await expect(use()).rejects.not.toThrow('hunter2');
    }
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  test("is refused with its path if it can't be read or written", async () => {
    const folder = join(temporaryFolder(), 'config.json');
    mkdirSync(folder);
    expect(() => readConfigFile(folder)).toThrow(`${folder} can't be read`);
    await expect(chooseProd(join(write(''), 'config.json'))).rejects.toThrow("config.json can't be written");
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

  test('is made for its owner alone, with its folder, under any umask', async () => {
    const umask = process.umask(0);
    onTestFinished(() => void process.umask(umask));
    const folder = join(temporaryFolder(), 'a', 'b');
    const path = join(folder, 'config.json');
    await chooseProd(path);
    expect([modeOf(folder), modeOf(path), readdirSync(folder)]).toEqual([0o700, 0o600, ['config.json']]);
    expect(contentOf(path)).toEqual({ profile: 'prod' });
  });

  test.each([0o644, 0o400])('is rewritten for its owner alone if its mode was %o', async (before) => {
    const path = write('{}', before);
    await chooseProd(path);
    expect([modeOf(path), contentOf(path)]).toEqual([0o600, { profile: 'prod' }]);
  });

  test('is not changed if others may have written it', async () => {
    const path = write('{"theme":1}', 0o620);
    await expect(chooseProd(path)).rejects.toThrow('other users');
    expect(contentOf(path)).toEqual({ theme: 1 });
  });

  test('keeps everything that several commands store at the same time', async () => {
    const path = write('{}');
    const names = Array.from({ length: 12 }, (_, n) => `p${n}`);
    const store = (name: string) =>
      changeConfigFile(path, ({ profiles }) => ({ profiles: { ...profiles, [name]: {} } }), createMemory());
    await Promise.all(names.map(store));
    expect(Object.keys(contentOf(path).profiles).sort()).toEqual([...names].sort());
  });

  test('is not changed while another command changes it, and a lock that was left behind is named', async () => {
    const path = write('{"theme":1}');
    writeFileSync(`${path}.lock`, '');
    await expect(chooseProd(path)).rejects.toMatchObject({
      facts: {
        message: expect.stringContaining('by another command'),
        hint: expect.stringContaining(`rm ${shellWord(`${path}.lock`)}`),
      },
    });
    expect(contentOf(path)).toEqual({ theme: 1 });
    rmSync(`${path}.lock`);
    await chooseProd(path);
    expect(contentOf(path)).toEqual({ theme: 1, profile: 'prod' });
  });

  test('keeps what another command has stored while this one waited for it', async () => {
    const path = write('{"theme":1}');
    writeFileSync(`${path}.lock`, '');
    const memory = createMemory();
    const sleep = async () => {
      writeFileSync(path, '{"theme":2}');
      rmSync(`${path}.lock`);
    };
    const waiting = { ...memory, clock: { ...memory.clock, sleep } };
    await changeConfigFile(path, (config) => ({ ...config, profile: 'prod' }), waiting);
    expect(contentOf(path)).toEqual({ theme: 2, profile: 'prod' });
  });

  test('is refused without leaving a lock behind', async () => {
    const path = write('[]');
    await expect(chooseProd(path)).rejects.toThrow('it is not an object');
    expect(readdirSync(dirname(path))).toEqual(['config.json']);
  });

  test('keeps unknown fields, and names with dots, but not a byte order mark', async () => {
    const known = { theme: { 'a.b': 1 }, profiles: { 'team.prod': { baseUrl: 'u', note: [2] } } };
    const path = write(`\ufeff${JSON.stringify(known)}`);
    expect(readConfigFile(path).config).toEqual(known);
    await chooseProd(path);
    expect(contentOf(path)).toEqual({ ...known, profile: 'prod' });
  });

  test('is written where a link points to, even if everybody can write to the folder of the link', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'dotfiles'));
    const target = join(folder, 'dotfiles', 'runctl');
    const path = join(folder, 'config.json');
    symlinkSync(join('dotfiles', 'runctl'), path);
    chmodSync(folder, 0o777);
    writeFileSync(target, '{"theme":1}');
    await chooseProd(path);
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect([modeOf(target), contentOf(target)]).toEqual([0o600, { theme: 1, profile: 'prod' }]);
  });
});
