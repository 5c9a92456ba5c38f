import { platform } from 'node:os';
import { posix, win32 } from 'node:path';
import type { Env } from '../context.ts';

export interface Folder {
  path: string;
  /** The variable it comes from. */
  source: string;
}

/** The folder of config.json; undefined where there is no home. */
export function findConfigFolder(env: Env, system = platform()): Folder | undefined {
  return findFolder('RUNCTL_CONFIG_DIR', 'XDG_CONFIG_HOME', env, system, {
    unix: ['.config'],
    windows: 'APPDATA',
    windowsHome: ['AppData', 'Roaming'],
  });
}

/** The folder of the journal; undefined where there is no home. */
export function findStateFolder(env: Env, system = platform()): Folder | undefined {
  return findFolder('RUNCTL_STATE_DIR', 'XDG_STATE_HOME', env, system, {
    unix: ['.local', 'state'],
    windows: 'LOCALAPPDATA',
    windowsHome: ['AppData', 'Local'],
  });
}

export function resolveStateFolder(env: Env): string | undefined {
  return findStateFolder(env, platform())?.path;
}

/** The path of the config file, whether or not it exists; undefined where there is no home. */
export function resolveConfigFile(env: Env, system = platform()): string | undefined {
  const folder = findConfigFolder(env, system);
  return folder && pathsOf(system).join(folder.path, 'config.json');
}

interface Layout {
  unix: string[];
  windows: string;
  windowsHome: string[];
}

function findFolder(own: string, xdg: string, env: Env, system: string, layout: Layout): Folder | undefined {
  const { isAbsolute, join, resolve } = pathsOf(system);
  if (env[own]) return { path: resolve(env[own]), source: own };
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
    if (base && isAbsolute(base)) return { path: join(base, ...below, 'runctl'), source };
  }
  return undefined;
}

const pathsOf = (system: string) => (system === 'win32' ? win32 : posix);
