import { basename, dirname, join } from 'node:path';
import Conf from 'conf';
import { makeOwnFolder, resolveOwn } from '../open-own.ts';
import { Problem, usageProblem } from '../problems/problem.ts';
import { type ConfigFile, parseConfig, readConfigFile } from './config-file.ts';
import { withLock } from './lock.ts';

/** Replaces the file in one step; a link to it stays one. Throws a usage problem if it cannot be read or written. */
export function changeConfigFile(path: string, change: (config: ConfigFile) => ConfigFile): void {
  try {
    const named = resolveOwn(path).path;
    const folder = makeOwnFolder(dirname(named));
    const file = join(folder, basename(named));
    withLock(`${file}.lock`, () => {
      const conf = new Conf<ConfigFile>({
        cwd: folder,
        configName: basename(file),
        fileExtension: '',
        projectSuffix: '',
        configFileMode: modeFor(file),
        // The name of a profile may hold dots.
        accessPropertiesByDotNotation: false,
        deserialize: (text) => parseConfig(text, path),
        serialize: (config) => `${JSON.stringify(config, null, 2)}\n`,
      });
      conf.store = change(readConfigFile(path).config);
    });
  } catch (error) {
    if (error instanceof Problem) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw usageProblem(
      `the config file ${path} cannot be written (${code ?? message})`,
      'set RUNCTL_CONFIG_DIR to a folder that can be written, or give the setting by its variable',
    );
  }
}

/** The mode of the file: for its owner alone; a file that its owner may only read stays so. */
function modeFor(path: string): number {
  const mode = resolveOwn(path).stat?.mode ?? 0;
  // conf takes 0 for "not given", and then writes a file for everybody.
  return mode & 0o600 || 0o600;
}
