import type { Context } from '../context.ts';
import { usageProblem } from '../problems/problem.ts';
import type { ConfigFile } from './config-file.ts';
import { resolveConfigFile } from './paths.ts';
import { type ChosenProfile, storedProfile } from './profile.ts';
import type { StoredKey } from './setting-table.ts';

export function storeInProfile(
  path: string,
  profile: ChosenProfile,
  changes: { [key in StoredKey]?: string },
): Promise<void> {
  return changeConfig(path, (config) => withProfile(config, profile, changes));
}

export function withProfile(
  config: ConfigFile,
  { name }: ChosenProfile,
  changes: { [key in StoredKey]?: string },
): ConfigFile {
  const profile = { ...storedProfile(name, config), ...changes };
  return { ...config, profiles: { ...config.profiles, [name]: profile } };
}

export async function changeConfig(path: string, make: (config: ConfigFile) => ConfigFile): Promise<void> {
  const { changeConfigFile } = await import('./write-config.ts');
  changeConfigFile(path, make);
}

export function requireConfigFile({ env }: Context): string {
  const path = resolveConfigFile(env);
  if (path === undefined) throw usageProblem('there is no folder for a config file', 'set HOME or RUNCTL_CONFIG_DIR');
  return path;
}
