import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import Conf from 'conf';
import { Problem, usageProblem } from '../run/problem.ts';
import { makeOwnFolder } from '../system/own-file.ts';
import { type ConfigFile, parseConfig, readConfigFile } from './config-file.ts';

/** Replaces the file in one step and keeps a link to it. Throws a usage problem if it can't be read or written. */
export function changeConfigFile(path: string, change: (config: ConfigFile) => ConfigFile): void {
  try {
    const { config, distrust } = readConfigFile(path);
    if (distrust) throw distrust;
    const file = existsSync(path) ? realpathSync(path) : path;
    const folder = makeOwnFolder(dirname(file));
    const conf = new Conf<ConfigFile>({
      cwd: folder,
      configName: basename(file),
      fileExtension: '',
      projectSuffix: '',
      configFileMode: 0o600,
      // A profile's name may contain dots.
      accessPropertiesByDotNotation: false,
      deserialize: (text) => parseConfig(text, path),
      serialize: (config) => `${JSON.stringify(config, null, 2)}\n`,
    });
    conf.store = change(config);
  } catch (error) {
    if (error instanceof Problem) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw usageProblem(
      `the config file ${path} can't be written (${code ?? message})`,
      'set RUNCTL_CONFIG_DIR to a writable folder, or use the environment variable of the setting',
    );
  }
}
