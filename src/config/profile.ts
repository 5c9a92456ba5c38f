import type { Env } from '../context.ts';
import { usageProblem } from '../problems/problem.ts';
import type { Profile, ReadConfig } from './config-file.ts';
import { defaultProfile } from './setting-table.ts';

export interface ChosenProfile {
  name: string;
  source: string;
}

/** The profile in force, whether or not the file has it. */
export function chooseProfile(flag: string | undefined, env: Env, { path, config }: ReadConfig): ChosenProfile {
  if (flag !== undefined) return { name: flag, source: 'flag --profile' };
  if (env.RUNCTL_PROFILE) return { name: env.RUNCTL_PROFILE, source: 'RUNCTL_PROFILE' };
  if (config.profile) return { name: config.profile, source: path ?? '' };
  return { name: defaultProfile, source: 'default' };
}

/** What is stored for a profile. One that was asked for and is not there is a usage problem. */
export function readProfile({ name, source }: ChosenProfile, { path, config }: ReadConfig): Profile {
  const profile = storedProfile(name, config);
  if (profile) return profile;
  if (name === defaultProfile) return {};
  const names = Object.keys(config.profiles ?? {});
  const known = names.length > 0 ? `there are ${names.join(', ')}; ` : '';
  throw usageProblem(
    `there is no profile ${JSON.stringify(name)} (${source}) in ${path ?? 'any config file'}`,
    `${known}make it with \`runctl config set baseUrl <url> --profile <name>\``,
  );
}

/** Own fields only: a profile may be called `constructor`. */
export function storedProfile(name: string, { profiles = {} }: ReadConfig['config']): Profile | undefined {
  return Object.hasOwn(profiles, name) ? profiles[name] : undefined;
}

/** Refuses the names that could not be typed again. */
export function checkProfileName({ name, source }: ChosenProfile): void {
  if (!/^[^\p{C}\p{Z}-][^\p{C}\p{Z}]*$/u.test(name)) {
    throw usageProblem(
      `the profile name ${JSON.stringify(name)} (${source}) is empty, holds a blank or begins with a dash`,
      'a name looks like prod or team.staging',
    );
  }
}

/** Where a stored value comes from, in words. */
export function sourceOf(profile: string, path: string | undefined): string {
  return `profile ${JSON.stringify(profile)} in ${path}`;
}
