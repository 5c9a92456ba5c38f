import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { changeConfigFile } from '../../src/config/write-config.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const modeOf = (path: string) => statSync(path).mode & 0o777;
const contentOf = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

describe('the stored settings', () => {
  test('are made for their owner alone, folder and file', () => {
    const folder = join(temporaryFolder(), 'a', 'b');
    const path = join(folder, 'config.json');
    changeConfigFile(path, () => ({ profile: 'prod' }));
    expect(modeOf(path)).toBe(0o600);
    expect(modeOf(folder)).toBe(0o700);
    expect(contentOf(path)).toEqual({ profile: 'prod' });
    expect(readdirSync(folder)).toEqual(['config.json']);
  });

  test.each([0o644, 0o600, 0o400])('of mode %o are rewritten with mode 0600', (before) => {
    const path = join(temporaryFolder(), 'config.json');
    writeFileSync(path, '{}');
    chmodSync(path, before);
    changeConfigFile(path, (config) => ({ ...config, profile: 'prod' }));
    expect(modeOf(path)).toBe(0o600);
    expect(contentOf(path)).toEqual({ profile: 'prod' });
  });

  test('are not replaced by what others may have written', () => {
    const path = join(temporaryFolder(), 'config.json');
    writeFileSync(path, '{"theme":1}');
    chmodSync(path, 0o620);
    expect(() => changeConfigFile(path, (config) => ({ ...config, profile: 'prod' }))).toThrow('other users can write');
    expect(contentOf(path)).toEqual({ theme: 1 });
  });

  test('are not widened by any umask', () => {
    const umask = process.umask(0);
    try {
      const path = join(temporaryFolder(), 'config.json');
      changeConfigFile(path, () => ({}));
      expect(modeOf(path)).toBe(0o600);
    } finally {
      process.umask(umask);
    }
  });

  test('keep what nobody knows, and names with dots', () => {
    const path = join(temporaryFolder(), 'config.json');
    writeFileSync(path, '{"theme":{"a.b":1},"profiles":{"team.prod":{"note":2}}}');
    changeConfigFile(path, (config) => ({ ...config, profile: 'team.prod' }));
    expect(contentOf(path)).toEqual({
      theme: { 'a.b': 1 },
      profiles: { 'team.prod': { note: 2 } },
      profile: 'team.prod',
    });
  });

  test('lose a byte order mark and nothing else', () => {
    const path = join(temporaryFolder(), 'config.json');
    writeFileSync(path, '\ufeff{"theme":1}');
    changeConfigFile(path, (config) => ({ ...config, profile: 'prod' }));
    expect(contentOf(path)).toEqual({ theme: 1, profile: 'prod' });
  });

  test('are written where a link points to', () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'dotfiles'));
    const target = join(folder, 'dotfiles', 'runctl');
    const path = join(folder, 'config.json');
    symlinkSync(join('dotfiles', 'runctl'), path);
    writeFileSync(target, '{"theme":1}');
    changeConfigFile(path, (config) => ({ ...config, profile: 'prod' }));
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect(contentOf(target).profile).toBe('prod');
    expect(modeOf(target)).toBe(0o600);
  });

  test("that can't be written are a problem that names the path", () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    const path = join(file, 'config.json');
    expect(() => changeConfigFile(path, (config) => config)).toThrow(`${path} can't be written`);
  });
});
