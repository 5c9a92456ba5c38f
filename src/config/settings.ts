import type { Context } from '../context.ts';
import { usageProblem } from '../problems/problem.ts';
import { accountOf } from './api-key.ts';
import { findSettings, parse, type SettingFlags } from './find-settings.ts';
import { parseRequestTimeout, parseSetting } from './parse-setting.ts';
import { defaultProfile, settingOf } from './setting-table.ts';

export type { SettingFlags } from './find-settings.ts';

/**
 * The settings in force. Each is checked when it is read, and throws a usage problem if it is not right: a command is
 * stopped only by the settings it needs. What nobody has given is undefined.
 */
export interface Settings {
  readonly profile: string;
  readonly apiKey?: string;
  /** Tells API keys apart without holding one; throws where there is none. */
  readonly account: string;
  /** Without a slash at its end and without `/v0`. */
  readonly baseUrl?: string;
  /** A UUID in lower case. */
  readonly project?: string;
  readonly requestTimeoutMs: number;
}

/** Finds the settings. Throws a usage problem for a config file or a profile that cannot be read. */
export async function resolveSettings(flags: SettingFlags, context: Context): Promise<Settings> {
  const { profile, given } = await findSettings(flags, context);
  const settings: Settings = {
    profile: profile.name,
    get apiKey() {
      return given.apiKey && parse(given.apiKey, parseSetting.apiKey);
    },
    get account() {
      return accountOf(requireApiKey(settings));
    },
    get baseUrl() {
      return given.baseUrl && parse(given.baseUrl, parseSetting.baseUrl);
    },
    get project() {
      return given.project && parse(given.project, parseSetting.project);
    },
    get requestTimeoutMs() {
      return parse(given.requestTimeout, parseRequestTimeout);
    },
  };
  return settings;
}

export function requireApiKey(settings: Settings): string {
  return settings.apiKey ?? refuse('apiKey', settings);
}

export function requireBaseUrl(settings: Settings): string {
  return settings.baseUrl ?? refuse('baseUrl', settings);
}

export function requireProject(settings: Settings): string {
  return settings.project ?? refuse('project', settings);
}

/** Names the three ways to give a setting. */
function refuse(key: 'apiKey' | 'baseUrl' | 'project', { profile }: Settings): never {
  const {
    name,
    flag,
    env: [variable],
  } = settingOf(key);
  const value = key === 'apiKey' ? '' : flag?.replace(/^\S+/, '');
  const where = profile === defaultProfile ? '' : ` --profile ${profile}`;
  throw usageProblem(
    `no ${name} is set`,
    `give \`${flag}\`, set ${variable}, or store it with \`runctl config set ${key}${value}${where}\`; \`runctl config\` asks for all of them`,
  );
}
