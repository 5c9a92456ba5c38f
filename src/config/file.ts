import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { usageProblem } from '../runs/problem.ts';
import { resolveConfigFolder } from './folders.ts';
import { type ConfigFile, readConfigFile } from './schema.ts';

type Env = Readonly<Record<string, string | undefined>>;

export const configFilePath = (env: Env): string | undefined => {
  const folder = resolveConfigFolder(env);
  return folder === undefined ? undefined : join(folder, 'config.json');
};

/** The config file's content; empty where there is none. Never written here. Throws a usage problem that names the path. */
export function loadConfigFile(path: string | undefined, warn: (line: string) => void = () => {}): ConfigFile {
  if (path === undefined) return {};
  const text = readText(path);
  if (text === undefined) return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw usageProblem(`the config file ${path} is not JSON; it was left as it is`, 'mend it by hand, or move it away');
  }
  const read = readConfigFile(value);
  if ('wrongField' in read) {
    throw usageProblem(
      `the config file ${path} is wrong at ${read.wrongField}; it was left as it is`,
      'mend it by hand, or move it away',
    );
  }
  const { file } = read;
  const holdsKey = Object.values(file.profiles ?? {}).some(({ apiKey }) => apiKey !== undefined);
  if (holdsKey && isOpenToOthers(path))
    warn(`the config file holds an API key and others may read it: chmod 600 ${path}`);
  return file;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw usageProblem(`the config file ${path} cannot be read: ${message}`);
  }
}

function isOpenToOthers(path: string): boolean {
  // Windows has no such bits.
  return (statSync(path).mode & 0o077) !== 0 && !path.includes('\\');
}
