import { createHash } from 'node:crypto';
import type { Context } from '../context.ts';
import { quote } from '../runs/arguments.ts';
import { usageProblem } from '../runs/problem.ts';
import { configFilePath, loadConfigFile } from './file.ts';
import { readKeyFile } from './secret.ts';
import { type SettingKey, specOf } from './setting-table.ts';
import { readApiKey, readBaseUrl, readProfile, readProject, readRequestTimeout } from './values.ts';

export interface SettingFlags {
  apiKeyFile?: string;
  baseUrl?: string;
  project?: string;
  profile?: string;
  requestTimeout?: string;
}

/** The settings in force. `sources` tells where each came from, in words. */
export interface Settings {
  apiKey?: string;
  /** Fingerprint of the key: 32 bits of SHA-256, which name a key and give nothing of it away. */
  account: string;
  /** Without `/v0` and without a slash at its end. */
  baseUrl?: string;
  /** UUID, lower case. */
  project?: string;
  profile: string;
  requestTimeoutMs: number;
  sources: Record<SettingKey, string>;
}

interface Found {
  text: string;
  source: string;
}

/** Flag, then environment, then the profile in the config file, then the default (contract §2). Throws a usage problem. */
export async function resolveSettings(flags: SettingFlags, context: Context): Promise<Settings> {
  const { env, stderr } = context;
  const path = configFilePath(env);
  const file = loadConfigFile(path, (line) => stderr.write(`runctl: ${line}\n`));
  const namedProfile =
    flagged(flags.profile, '--profile') ??
    fromEnvironment('RUNCTL_PROFILE', env) ??
    (file.profile ? { text: file.profile, source: `${path}` } : undefined);
  const profile = namedProfile ? readProfile(namedProfile.text, namedProfile.source) : 'default';
  const profiles = file.profiles ?? {};
  const stored = Object.hasOwn(profiles, profile) ? profiles[profile] : undefined;
  if (!stored && profile !== 'default') {
    throw usageProblem(
      `there is no profile ${quote(profile)} (named by ${namedProfile?.source})`,
      `make it with \`runctl config set baseUrl <url> --profile ${profile}\``,
    );
  }
  const inProfile = (key: 'apiKey' | 'baseUrl' | 'project' | 'requestTimeout'): Found | undefined => {
    const text = stored?.[key];
    return text ? { text, source: `profile ${quote(profile)} in ${path}` } : undefined;
  };

  const apiKey = (await givenKey(flags, context)) ?? inProfile('apiKey');
  const baseUrl =
    flagged(flags.baseUrl, '--base-url') ?? fromEnvironment('RUNCTL_BASE_URL', env) ?? inProfile('baseUrl');
  const project = flagged(flags.project, '--project') ?? fromEnvironment('RUNCTL_PROJECT', env) ?? inProfile('project');
  const requestTimeout = flagged(flags.requestTimeout, '--request-timeout') ??
    fromEnvironment('RUNCTL_REQUEST_TIMEOUT', env) ??
    inProfile('requestTimeout') ?? { text: specOf('requestTimeout').fallback, source: 'default' };
  const key = apiKey && readApiKey(apiKey.text, apiKey.source);
  return {
    apiKey: key,
    account: key === undefined ? '' : accountOf(key),
    baseUrl: baseUrl && readBaseUrl(baseUrl.text, baseUrl.source),
    project: project && readProject(project.text, project.source),
    profile,
    requestTimeoutMs: readRequestTimeout(requestTimeout.text, requestTimeout.source),
    sources: {
      apiKey: apiKey?.source ?? 'not set',
      baseUrl: baseUrl?.source ?? 'not set',
      project: project?.source ?? 'not set',
      profile: namedProfile?.source ?? 'default',
      requestTimeout: requestTimeout.source,
    },
  };
}

async function givenKey(flags: SettingFlags, context: Context): Promise<Found | undefined> {
  const { env } = context;
  const inFile = async (path: string, source: string) => ({ text: await readKeyFile(path, context), source });
  if (flags.apiKeyFile !== undefined) return inFile(flags.apiKeyFile, '--api-key-file');
  const value = fromEnvironment('RUNCTL_API_KEY', env);
  if (value) return value;
  const path = fromEnvironment('RUNCTL_API_KEY_FILE', env);
  return path && inFile(path.text, path.source);
}

const flagged = (text: string | undefined, flag: string): Found | undefined =>
  text === undefined ? undefined : { text, source: flag };

/** An empty variable counts as unset. */
const fromEnvironment = (name: string, env: Context['env']): Found | undefined => {
  const text = env[name];
  return text ? { text, source: name } : undefined;
};

export function accountOf(apiKey: string): string {
  return createHash('sha256').update(`runctl-account:${apiKey}`).digest('hex').slice(0, 8);
}

export const requireApiKey = ({ apiKey }: Settings): string => apiKey ?? refuseMissing('apiKey');
export const requireBaseUrl = ({ baseUrl }: Settings): string => baseUrl ?? refuseMissing('baseUrl');
export const requireProject = ({ project }: Settings): string => project ?? refuseMissing('project');

/** A missing setting is named with the three ways to give it. */
function refuseMissing(key: SettingKey): never {
  const { about, flag, environment } = specOf(key);
  const value = key === 'apiKey' ? '' : ` ${flag.split(' ')[1]}`;
  throw usageProblem(
    `no ${about} is set`,
    `give ${flag}, or set ${environment.join(' or ')}, or store it with \`runctl config set ${key}${value}\``,
  );
}
