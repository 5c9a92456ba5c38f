import { posix, win32 } from 'node:path';
import { platform } from 'node:process';
import type { Env } from '../context.ts';
import { settingTable } from './setting-table.ts';

interface Folder {
  value: string;
  source: string;
}

/** The variables whose folders contain ours, in order of priority, and the path from there to ours. */
const bases = {
  configFolder: {
    unix: { XDG_CONFIG_HOME: '', HOME: '.config' },
    windows: { XDG_CONFIG_HOME: '', APPDATA: '', USERPROFILE: 'AppData/Roaming' },
  },
  stateFolder: {
    unix: { XDG_STATE_HOME: '', HOME: '.local/state' },
    windows: { XDG_STATE_HOME: '', LOCALAPPDATA: '', USERPROFILE: 'AppData/Local' },
  },
} as const;

/** The folder of config.json; undefined if there is no home folder. */
export const findConfigFolder = (env: Env, system: string = platform) => findFolder('configFolder', env, system);

export const findStateFolder = (env: Env, system: string = platform) => findFolder('stateFolder', env, system);

export const resolveStateFolder = (env: Env): string | undefined => findStateFolder(env)?.value;

export function resolveConfigFile(env: Env, system: string = platform): string | undefined {
  const folder = findConfigFolder(env, system);
  return folder && pathsOf(system).join(folder.value, 'config.json');
}

function findFolder(name: keyof typeof bases, env: Env, system: string): Folder | undefined {
  const { isAbsolute, join, resolve } = pathsOf(system);
  const [own] = settingTable[name].env;
  if (env[own]) return { value: resolve(env[own]), source: own };
  // XDG Base Directory Specification: a relative path is invalid and to be ignored. Where cron sets no home there is
  // none: os.homedir() would make one up from the password file.
  for (const [source, way] of Object.entries(bases[name][system === 'win32' ? 'windows' : 'unix'])) {
    const base = env[source];
    if (base && isAbsolute(base)) return { value: join(base, way, 'runctl'), source };
  }
  return undefined;
}

const pathsOf = (system: string) => (system === 'win32' ? win32 : posix);
