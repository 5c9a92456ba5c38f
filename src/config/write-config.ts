import { basename, dirname, join } from 'node:path';
import Conf from 'conf';
import { makeOwnFolder, resolveOwn } from '../open-own.ts';
import { Problem, usageProblem } from '../problems/problem.ts';
import { type ConfigFile, parseConfig, readConfigFile } from './config-file.ts';

/** Replaces the file in one step and keeps a link to it. Throws a usage problem if it can't be read or written. */
export function changeConfigFile(path: string, change: (config: ConfigFile) => ConfigFile): void {
  try {
    const named = resolveOwn(path).path;
    const folder = makeOwnFolder(dirname(named));
    const file = join(folder, basename(named));
    const conf = new Conf<ConfigFile>({
      cwd: folder,
      configName: basename(file),
      fileExtension: '',
      projectSuffix: '',
      configFileMode: modeFor(file),
      // A profile's name may contain dots.
      accessPropertiesByDotNotation: false,
      deserialize: (text) => parseConfig(text, path),
      serialize: (config) => `${JSON.stringify(config, null, 2)}\n`,
    });
    conf.store = change(readConfigFile(path).config);
  } catch (error) {
    if (error instanceof Problem) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw usageProblem(
      `the config file ${path} can't be written (${code ?? message})`,
      'set RUNCTL_CONFIG_DIR to a writable folder, or use the environment variable of the setting',
    );
  }
}

/** The file's mode: only for its owner. If the owner can only read it, that stays so. */
function modeFor(path: string): number {
  const mode = resolveOwn(path).stat?.mode ?? 0;
  // conf reads 0 as "not set", and then writes a file that everyone can read.
  return mode & 0o600 || 0o600;
}
