import type { Context } from '../context.ts';
import { Problem } from '../run/report.ts';
import { settingTable } from './table.ts';
import { checkSetting } from './values.ts';

const folders = {
  configDir: { base: 'XDG_CONFIG_HOME', belowHome: '.config' },
  stateDir: { base: 'XDG_STATE_HOME', belowHome: '.local/state' },
};

/** The path of a folder, which may not exist yet. Throws a `Problem` if nothing says where it is. */
export function findFolder(name: 'configDir' | 'stateDir', env: Context['env']): string {
  const [variable] = settingTable[name].env;
  const path = env[variable];
  if (path) return checkSetting(name, path, variable);
  const { base, belowHome } = folders[name];
  // XDG Base Directory Specification: relative paths are invalid and to be ignored.
  if (env[base]?.startsWith('/')) return `${env[base]}/runctl`;
  if (env.HOME) return `${env.HOME}/${belowHome}/runctl`;
  throw new Problem(`there is no home folder: set HOME or ${variable}`);
}
