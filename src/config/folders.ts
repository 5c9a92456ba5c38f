import { isAbsolute, join } from 'node:path';

type Env = Readonly<Record<string, string | undefined>>;

/** Where settings are kept; undefined where the environment names no home. */
export function resolveConfigFolder(env: Env): string | undefined {
  return env.RUNCTL_CONFIG_DIR || inHome(env, 'XDG_CONFIG_HOME', 'APPDATA', '.config');
}

/** Where the journal is kept; undefined where the environment names no home. */
export function resolveStateFolder(env: Env): string | undefined {
  return env.RUNCTL_STATE_DIR || inHome(env, 'XDG_STATE_HOME', 'LOCALAPPDATA', join('.local', 'state'));
}

function inHome(env: Env, xdgName: string, windowsName: string, fallback: string): string | undefined {
  // The XDG specification has a relative path ignored.
  const xdg = env[xdgName];
  if (xdg && isAbsolute(xdg)) return join(xdg, 'runctl');
  const windows = env[windowsName];
  if (windows) return join(windows, 'runctl');
  const home = env.HOME || env.USERPROFILE;
  return home ? join(home, fallback, 'runctl') : undefined;
}
