import { posix, win32 } from 'node:path';
import { platform } from 'node:process';
import type { Env } from '../context.ts';
import { settingTable } from './setting-table.ts';

interface Folder {
  value: string;
  source: string;
}

/** The folder of config.json; undefined if there is no home folder. */
export function findConfigFolder(env: Env, system: string = platform): Folder | undefined {
  return findFolder(settingTable.configFolder.env[0], 'XDG_CONFIG_HOME', env, system, {
    unix: ['.config'],
    windows: 'APPDATA',
    windowsHome: ['AppData', 'Roaming'],
  });
}

export function findStateFolder(env: Env, system: string = platform): Folder | undefined {
  return findFolder(settingTable.stateFolder.env[0], 'XDG_STATE_HOME', env, system, {
    unix: ['.local', 'state'],
    windows: 'LOCALAPPDATA',
    windowsHome: ['AppData', 'Local'],
  });
}

export function resolveStateFolder(env: Env): string | undefined {
  return findStateFolder(env)?.value;
}

export function resolveConfigFile(env: Env, system: string = platform): string | undefined {
  const folder = findConfigFolder(env, system);
  return folder && pathsOf(system).join(folder.value, 'config.json');
}

interface Layout {
  unix: string[];
  windows: string;
  windowsHome: string[];
}

function findFolder(own: string, xdg: string, env: Env, system: string, layout: Layout): Folder | undefined {
  const { isAbsolute, join, resolve } = pathsOf(system);
  if (env[own]) return { value: resolve(env[own]), source: own };
  // XDG Base Directory Specification: a relative path is invalid and to be ignored. Where cron sets no home there is
  // none: os.homedir() would make one up from the password file.
  const bases: [variable: string, below: string[]][] =
    system === 'win32'
      ? [
          [xdg, []],
          [layout.windows, []],
          ['USERPROFILE', layout.windowsHome],
        ]
      : [
          [xdg, []],
          ['HOME', layout.unix],
        ];
  for (const [source, below] of bases) {
    const base = env[source];
    if (base && isAbsolute(base)) return { value: join(base, ...below, 'runctl'), source };
  }
  return undefined;
}

const pathsOf = (system: string) => (system === 'win32' ? win32 : posix);
