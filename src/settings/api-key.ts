import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Context } from '../context.ts';
import { Problem } from '../core/report.ts';
import { shellWord } from '../text/shell-word.ts';
import { runApiKeyCommand } from './api-key-command.ts';
import { type ConfigFile, type Profile, profileIn, readConfigFile } from './config-file.ts';
import type { Settings } from './settings.ts';
import { checkSetting, settingTable } from './table.ts';

/** Where the API key comes from. It may be replaced while a command runs. */
export interface ApiKeySource {
  source: string;
  /**
   * Reads it (again), hides it in every output from then on, and returns it. Throws a `Problem`
   * that says what is wrong with the source.
   */
  read(): Promise<string>;
}

/**
 * Finds the source of the API key, which isn't read yet. Throws a `Problem` if two sources of one
 * level give it, or if the profile's must not be used.
 */
export function findApiKey(settings: Settings, context: Context): ApiKeySource | undefined {
  const { env, flags } = context;
  const { RUNCTL_API_KEY: text, RUNCTL_API_KEY_FILE: path } = env;
  const fromFlag = () =>
    flags.apiKeyFile === undefined ? [] : [ofFile(flags.apiKeyFile, '--api-key-file', context)];
  const fromEnvironment = () => [
    ...(text ? [sourceOf('RUNCTL_API_KEY', async () => text, context)] : []),
    ...(path ? [ofFile(path, 'RUNCTL_API_KEY_FILE', context)] : []),
  ];
  const fromProfile = () => ofProfile(settings, context);
  const isProfileFirst = flags.profile !== undefined && isOwnBaseUrl(settings.configFile, settings);
  const others = isProfileFirst ? [fromProfile, fromEnvironment] : [fromEnvironment, fromProfile];
  for (const level of [fromFlag, ...others]) {
    const [first, second] = level();
    if (!first) continue;
    if (!second) return first;
    throw new Problem(`${first.source} and ${second.source} both give the API key: remove one`);
  }
  return undefined;
}

const sourceOf = (
  source: string,
  readText: () => Promise<string>,
  { secrets, signal }: Context,
): ApiKeySource => ({
  source,
  async read() {
    const text = await Promise.race([readText(), rejectedBySignal(signal)]);
    secrets.protect(text.trim());
    return checkSetting('apiKey', text, source);
  },
});

/** Rejects once a signal has come: a pipe may never end. */
export const rejectedBySignal = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    const interrupt = () => reject(new Problem('interrupted', { exit: 'interrupted' }));
    if (signal.aborted) interrupt();
    else signal.addEventListener('abort', interrupt);
  });

/** `-` is stdin. */
function ofFile(path: string, source: string, context: Context): ApiKeySource {
  let piped: string | undefined;
  const readText = async () => {
    if (path === '-') piped ??= await context.readStdin();
    if (piped !== undefined) return piped;
    try {
      const text = await readFile(path, 'utf8');
      // A pipe can be read only once.
      if (!statSync(path).isFile()) piped = text;
      return text;
    } catch (error) {
      // The path isn't quoted, because some users give the API key in its place.
      const { code } = error as NodeJS.ErrnoException;
      throw new Problem(`the API key file (${source}) can't be read (${code})`);
    }
  };
  return sourceOf(source, readText, context);
}

function ofProfile(settings: Settings, context: Context): ApiKeySource[] {
  const { configFile, profile } = settings;
  const { apiKey, apiKeyCommand } = usableProfile(configFile, settings);
  // The file is read again with the API key, because both may have been replaced.
  const readProfile = () => usableProfile(readConfigFile(configFile.path), settings);
  const ofKey = `profile ${profile.value} in ${configFile.path}`;
  const ofCommand = `apiKeyCommand of ${ofKey}`;
  const readText = async () => readProfile().apiKey ?? '';
  const runCommand = () => runApiKeyCommand(readProfile().apiKeyCommand ?? '', ofCommand, context);
  return [
    ...(apiKey === undefined ? [] : [sourceOf(ofKey, readText, context)]),
    ...(apiKeyCommand === undefined ? [] : [sourceOf(ofCommand, runCommand, context)]),
  ];
}

/** The profile in force. Throws a `Problem` if it has an API key that must not be used. */
function usableProfile(file: ConfigFile, settings: Settings): Profile {
  const { profile, baseUrl } = settings;
  const stored = profileIn(file, profile.value);
  if (stored.apiKey === undefined && stored.apiKeyCommand === undefined) return stored;
  if (file.isShared) {
    throw new Problem(`others can read or write ${file.path}, so its API key isn't used`, {
      command: `chmod 600 ${shellWord(file.path)}`,
    });
  }
  if (isOwnBaseUrl(file, settings)) return stored;
  throw new Problem(
    `the API key of profile ${profile.value} goes only to that profile's base URL, not to ${baseUrl?.value} (${baseUrl?.source}): use --api-key-file or RUNCTL_API_KEY`,
  );
}

/** Without a base URL nothing is sent. */
function isOwnBaseUrl(file: ConfigFile, { profile, baseUrl }: Settings): boolean {
  const own = profileIn(file, profile.value).baseUrl ?? '';
  return baseUrl === undefined || settingTable.baseUrl.parse(own) === baseUrl.value;
}

/** An API key as it is shown: its last four characters, unless they were half of it. */
export const maskApiKey = (apiKey: string): string =>
  `…${apiKey.length > 8 ? apiKey.slice(-4) : ''}`;
