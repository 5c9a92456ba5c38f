import type { CommandContext } from '../context.ts';
import { usageProblem } from '../run/problem.ts';
import { quote, shellWord } from '../run/quote.ts';
import type { Env } from '../system/env.ts';
import { repairOwn } from '../system/own-file.ts';
import { type ConfigFile, type Profile, type ReadConfig, readConfigFile } from './config-file.ts';
import { resolveConfigFile } from './folders.ts';
import { defaultProfile, flagSource, settingTable, storedSettingNames } from './table.ts';
import { flawOfWrapped } from './wrapped-text.ts';

interface ChosenProfile {
  name: string;
  source: string;
}

export interface CurrentProfile extends ChosenProfile {
  stored: Profile;
  storedSource: string;
  /** A sentence about fields of the profile that are no settings, and how to remove them. */
  unknown?: { message: string; advice: string };
  /** The config file, if it holds an API key that others can read. */
  exposedPath?: string;
  untrustedProblem: ReadConfig['untrustedProblem'];
}

/**
 * Reads the current profile. Throws a usage problem if the file can't be read or doesn't have the
 * profile.
 */
export function readCurrentProfile(flag: string | undefined, env: Env): CurrentProfile {
  const file = readConfigFile(resolveConfigFile(env));
  const { path, config, isExposed, untrustedProblem } = file;
  const { name, source } = chooseProfile(flag, env, file);
  const stored = storedProfile(name, config);
  const mustExist = name !== defaultProfile && !untrustedProblem;
  if (!stored && mustExist) {
    checkProfileName({ name, source });
    const names = Object.keys(config.profiles ?? {});
    const existing = names.length > 0 ? `known profiles: ${names.join(', ')}\n` : '';
    throw usageProblem(
      `there is no profile ${quote(name)} (${source}) in ${path ?? 'any config file'}`,
      path
        ? `${existing}create it: \`runctl config --profile ${shellWord(name)}\``
        : 'set HOME or RUNCTL_CONFIG_DIR',
    );
  }
  return {
    name,
    source,
    stored: stored ?? {},
    storedSource: sourceOf(name, path),
    unknown: unknownFieldsIn(name, stored),
    exposedPath: isExposed ? path : undefined,
    untrustedProblem,
  };
}

/**
 * Reads the config file for a command that changes it, with the current profile, which may not
 * exist yet. If others can change the file, its mode is repaired first. Throws a usage problem if
 * that fails, or if there is no folder for the file.
 */
export function openProfile(flag: string | undefined, context: CommandContext) {
  const path = requireConfigFile(context);
  for (const repaired of repairOwn(path)) {
    const message = `other users could write to ${repaired} until now: check what is stored with \`runctl config list\``;
    context.reporter.emit({ event: 'warning', name: 'config_untrusted', message });
  }
  const file = readConfigFile(path);
  if (file.untrustedProblem) throw file.untrustedProblem;
  return { path, config: file.config, profile: chooseProfile(flag, context.env, file) };
}

function chooseProfile(
  flag: string | undefined,
  env: Env,
  { path, config }: ReadConfig,
): ChosenProfile {
  const [variable] = settingTable.profile.env;
  if (flag !== undefined) return checkedChoice(flag, flagSource('profile'));
  if (env[variable]) return checkedChoice(env[variable], variable);
  if (config.profile) return { name: config.profile, source: path ?? '' };
  return { name: defaultProfile, source: 'default' };
}

/** Throws a usage problem for a name that was copied together with something else. */
function checkedChoice(name: string, source: string): ChosenProfile {
  const wrapped = flawOfWrapped(name);
  if (wrapped) throw usageProblem(`the profile name (${source}) ${wrapped.flaw}`, wrapped.hint);
  return { name, source };
}

/**
 * What is stored for a profile. Only own properties are read, because a profile may be called
 * `constructor`.
 */
export function storedProfile(name: string, { profiles = {} }: ConfigFile): Profile | undefined {
  return Object.hasOwn(profiles, name) ? profiles[name] : undefined;
}

/** The keys in a profile that are no settings of this version. */
export const unknownKeysIn = (profile: Profile = {}): string[] =>
  Object.keys(profile).filter((key) => !storedSettingNames.some((name) => name === key));

function unknownFieldsIn(name: string, stored: Profile | undefined): CurrentProfile['unknown'] {
  const keys = unknownKeysIn(stored);
  const [first] = keys;
  if (first === undefined) return undefined;
  const are = keys.length > 1 ? 'are no runctl settings' : 'is no runctl setting';
  return {
    message: `${keys.join(', ')} in profile ${quote(name)} ${are}`,
    advice: `\`runctl config unset ${shellWord(first)}${profileFlag(name)}\``,
  };
}

/** The flag with which a printed command uses this profile. */
export const profileFlag = (name: string) =>
  name === defaultProfile ? '' : ` --profile ${shellWord(name)}`;

/** Throws a usage problem for a name that would be hard to type in a shell. */
export function checkProfileName({ name, source }: ChosenProfile): void {
  if (!/^[^\p{C}\p{Z}-][^\p{C}\p{Z}]*$/u.test(name)) {
    throw usageProblem(
      `the profile name ${quote(name)} (${source}) is empty, contains a space or begins with a dash`,
      'use a name like prod or team.staging',
    );
  }
}

/** A source without the path of the config file, for output that shows the path elsewhere. */
export const shortSource = (source = '') => source.replace(/^(profile ".*") in .*$/s, '$1');

/** The source of a stored setting: `profile "prod" in /home/…/config.json`. */
export function sourceOf(profile: string, path: string | undefined): string {
  return `profile ${quote(profile)} in ${path}`;
}

/** The config with changes to one profile, which is added if it is new. */
export function withProfile(
  config: ConfigFile,
  { name }: ChosenProfile,
  changes: Profile,
): ConfigFile {
  const profile = { ...storedProfile(name, config), ...changes };
  return { ...config, profiles: { ...config.profiles, [name]: profile } };
}

/** The path of the config file. Throws a usage problem if there is no folder for one. */
export function requireConfigFile({ env }: CommandContext): string {
  const path = resolveConfigFile(env);
  if (path === undefined)
    throw usageProblem('there is no folder for a config file', 'set HOME or RUNCTL_CONFIG_DIR');
  return path;
}
