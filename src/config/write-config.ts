import { readlinkSync, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import Conf from 'conf';
import { makeFolder } from '../make-folder.ts';
import { Problem, usageProblem } from '../problems/problem.ts';
import { type ConfigFile, parseConfig } from './config-file.ts';

/** Replaces the config file at once by what `change` makes of it. Throws a usage problem when it cannot be read or written. */
export function changeConfigFile(path: string, change: (config: ConfigFile) => ConfigFile): void {
  const file = followLink(path);
  try {
    makeFolder(dirname(file));
    const conf = new Conf<ConfigFile>({
      cwd: dirname(file),
      configName: basename(file),
      fileExtension: '',
      projectSuffix: '',
      configFileMode: modeFor(file),
      // The name of a profile may hold dots.
      accessPropertiesByDotNotation: false,
      deserialize: (text) => parseConfig(text, path),
      serialize: (config) => `${JSON.stringify(config, null, 2)}\n`,
    });
    conf.store = change(conf.store);
  } catch (error) {
    if (error instanceof Problem) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw usageProblem(
      `the config file ${path} cannot be written (${code ?? message})`,
      'set RUNCTL_CONFIG_DIR to a folder that can be written, or give the setting by its variable',
    );
  }
}

/** A file that is linked to from a repository of settings is written there, even if it does not exist there yet. */
function followLink(path: string): string {
  try {
    return resolve(dirname(path), readlinkSync(path));
  } catch {
    return path;
  }
}

/** For its owner alone; a file that its owner may only read stays so. */
function modeFor(path: string): number {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  // conf takes 0 for "not given", and then writes a file for everybody.
  return mode & 0o600 || 0o600;
}
