import type { Context } from '../context.ts';
import { type Failure, rowOf } from '../core/failure.ts';
import { Problem } from '../core/report.ts';
import type { JsonObject } from '../core/run.ts';
import { maskApiKey, rejectedBySignal } from '../settings/api-key.ts';
import { type Profile, profileIn, writeConfigFile } from '../settings/config-file.ts';
import { askHidden, askLine } from '../settings/prompts.ts';
import { resolveSettings, type Setting, type Settings } from '../settings/settings.ts';
import {
  checkSetting,
  configKeys,
  type ProfileKey,
  type SettingName,
  settingTable,
} from '../settings/table.ts';
import { cleanLine } from '../text/clean.ts';
import { hintFor } from '../text/near-word.ts';
import { shellWord } from '../text/shell-word.ts';
import { type CommandResult, done } from './command.ts';
import { openService } from './open.ts';

/** Asks for base URL, API key and project, and stores them if the service accepts the API key. */
export async function config(context: Context): Promise<CommandResult> {
  if (!context.canPrompt) {
    throw new Problem(
      "config asks questions, and this isn't a terminal: store baseUrl, apiKey and project one by one",
      { command: 'runctl help config' },
    );
  }
  const { flags, emit } = context;
  const settings = resolveSettings(context);
  const stored = profileIn(settings.configFile, settings.profile.value);

  const baseUrl = await askFor('baseUrl', flags.baseUrl ?? stored.baseUrl, context);
  const apiKey = await askApiKey(baseUrl, stored, settings, context);
  emit({ type: 'note', text: `${baseUrl} answered, and didn't refuse the API key` });
  const project = await askFor('project', flags.project ?? stored.project, context);
  const answers = { baseUrl, ...(apiKey && { apiKey }), ...(project && { project }) };
  const result = await store(answers, settings, context);

  const text = project
    ? 'the first trigger shows whether the project is right: runctl trigger <automation> --watch'
    : 'next: runctl trigger <projectId>/<automation> --watch';
  emit({ type: 'note', text });
  return result;
}

/** Prints the current value of a setting. */
export async function configGet(name: string, context: Context): Promise<CommandResult> {
  const key = settingNamed(name, settingNames);
  const setting = await currentSetting(key, resolveSettings(context), context);
  if (setting) return done({ settings: { [key]: setting } }, setting.value);
  throw new Problem(`${key} isn't set`, { command: 'runctl config' });
}

/** Prints every setting with its value and source. */
export async function configList(context: Context): Promise<CommandResult> {
  const settings = resolveSettings(context);
  // If the config file or the profile can't be used, there is nothing to list.
  const { value: profile } = settings.profile;
  const document: JsonObject = {};
  const lines: string[] = [];
  for (const name of settingNames) {
    const setting = await currentSetting(name, settings, context).catch((error: Error) => {
      if (error instanceof Problem && error.exit === 'usage') return { problem: error.message };
      throw error;
    });
    document[name] = setting ?? null;
    const shown = !setting || 'problem' in setting ? setting?.problem : settingLine(setting);
    lines.push(`${name.padEnd(15)}  ${cleanLine(shown ?? '-')}`);
  }
  return done({ profile, settings: document }, lines.join('\n'));
}

// Which file that is, the line of configDir says.
const settingLine = ({ value, source }: Setting<string>) =>
  `${value}  (${source.replace(/ in \/.*/, '')})`;

/** Stores a setting in the profile in force, or names the profile that is the default. */
export async function configSet(
  name: string,
  value: string | undefined,
  context: Context,
): Promise<CommandResult> {
  const key = settingNamed(name, configKeys);
  const settings = resolveSettings(context);
  const text = key === 'apiKey' ? await newApiKey(value, context) : value;
  if (text === undefined) throw new Problem(`config set ${key} needs a value`);
  const checked = checkSetting(key, text, 'config set');
  if (key !== 'profile') return store({ [key]: checked }, settings, context);
  const { configFile } = settings;
  if (text !== 'default' && !Object.hasOwn(configFile.profiles, text)) {
    throw new Problem(`there is no profile ${text} in ${configFile.path}`, {
      command: `runctl config --profile ${shellWord(text)}`,
    });
  }
  await writeConfigFile({ ...configFile, profile: text });
  return done({ profile: text });
}

/** Removes a setting from the profile in force, or the name of the profile that is the default. */
export async function configUnset(name: string, context: Context): Promise<CommandResult> {
  const key = settingNamed(name, configKeys);
  const settings = resolveSettings(context);
  const { configFile } = settings;
  if (key === 'profile') {
    await writeConfigFile({ ...configFile, profile: undefined });
    return done({});
  }
  const { value: profile } = settings.profile;
  const { [key]: removed, ...others } = profileIn(configFile, profile);
  const profiles = { ...configFile.profiles, [profile]: others };
  if (removed !== undefined) await writeConfigFile({ ...configFile, profiles });
  return done({ profile });
}

const settingNames = Object.keys(settingTable) as SettingName[];

/** The word isn't quoted, because it may be an API key that was typed at the wrong place. */
function settingNamed<Name extends SettingName>(word: string, names: readonly Name[]): Name {
  const name = names.find((each) => each === word);
  if (name) return name;
  throw new Problem(`there is no such setting: ${hintFor(word, names)}`);
}

async function currentSetting(
  name: SettingName,
  settings: Settings,
  { env }: Context,
): Promise<Setting<string> | undefined> {
  switch (name) {
    case 'apiKey': {
      const { apiKey } = settings;
      return apiKey && { value: maskApiKey(await apiKey.read()), source: apiKey.source };
    }
    case 'profile':
      return settings.profile;
    case 'configDir':
    case 'stateDir': {
      const [variable] = settingTable[name].env;
      return { value: settings[name], source: env[variable] ? variable : 'default' };
    }
    default:
      return settings.text(name);
  }
}

/** Stores settings in the profile in force, which may be new. */
async function store(
  changes: Profile,
  { configFile, profile }: Settings,
  { emit, env, flags }: Context,
): Promise<CommandResult> {
  const { value: name } = profile;
  const { apiKey, apiKeyCommand, ...others } = profileIn(configFile, name);
  // A profile has one API key, so a new one replaces whatever gave the old one.
  const isReplaced = 'apiKey' in changes || 'apiKeyCommand' in changes;
  const kept = isReplaced ? others : profileIn(configFile, name);
  const profiles = { ...configFile.profiles, [name]: { ...kept, ...changes } };
  await writeConfigFile({ ...configFile, profiles });
  const keys = Object.keys(changes);
  const variables = keys.flatMap((key) => [
    ...settingTable[key === 'apiKeyCommand' ? 'apiKey' : (key as ProfileKey)].env,
  ]);
  const winners = flags.profile === undefined ? variables.filter((each) => env[each]) : [];
  const but = winners.length > 0 ? `, but ${winners.join(', ')} wins` : '';
  const text = `stored ${keys.join(', ')} in profile ${name} in ${configFile.path}${but}`;
  emit({ type: 'note', text });
  return done({ profile: name, stored: keys });
}

async function newApiKey(value: string | undefined, context: Context): Promise<string> {
  if (value !== undefined) {
    throw new Problem(
      'the API key is never an argument, because others can see those: runctl asks for it, or reads a pipe',
      { command: 'runctl config set apiKey' },
    );
  }
  if (context.canPrompt) return askHidden('API key', () => true, context);
  return Promise.race([context.readStdin(), rejectedBySignal(context.signal)]);
}

/** Enter keeps what is suggested. Only the project may be empty. */
async function askFor(
  name: 'baseUrl' | 'project',
  suggested: string | undefined,
  context: Context,
): Promise<string> {
  const { label, allowed } = settingTable[name];
  const isOptional = name === 'project';
  const check = (text: string) =>
    (isOptional && text === '') ||
    settingTable[name].parse(text) !== undefined ||
    `must be ${allowed}`;
  const message = isOptional ? `${label} (a UUID, optional)` : label;
  const text = await askLine(message, suggested, check, context);
  return settingTable[name].parse(text) ?? '';
}

/** Asks until the service doesn't refuse the API key. An empty answer keeps that of the profile. */
async function askApiKey(
  baseUrl: string,
  stored: Profile,
  settings: Settings,
  context: Context,
): Promise<string> {
  const isSameUrl = settingTable.baseUrl.parse(stored.baseUrl ?? '') === baseUrl;
  const isStored = isSameUrl && (stored.apiKey ?? stored.apiKeyCommand);
  let failure: Failure | undefined;
  const check = async (apiKey: string) => {
    const isAllowed = apiKey === '' ? isStored : settingTable.apiKey.parse(apiKey);
    if (!isAllowed) return `must be ${settingTable.apiKey.allowed}`;
    try {
      const service = openService(context, settingsToTry(baseUrl, apiKey, settings, context));
      const answer = await service.probe();
      failure = answer.ok ? undefined : answer.failure;
    } catch (error) {
      // Such as a proxy that can't be used. inquirer doesn't catch what a check throws.
      return (error as Error).message;
    }
    return failure?.kind === 'unauthorized' ? failure.reason : true;
  };
  const message = isStored ? 'API key (Enter keeps the stored one)' : 'API key';
  const apiKey = await askHidden(message, check, context);
  if (!failure) return apiKey;
  throw new Problem(`nothing was stored: ${failure.reason}`, {
    exit: rowOf(failure).exit,
    command: 'runctl config',
  });
}

/** What was typed takes the place of flags and environment. */
const settingsToTry = (baseUrl: string, apiKey: string, { profile }: Settings, context: Context) =>
  resolveSettings({
    ...context,
    flags: { ...context.flags, baseUrl, profile: undefined, apiKeyFile: undefined },
    env: {
      ...context.env,
      RUNCTL_PROFILE: profile.value,
      RUNCTL_API_KEY: apiKey,
      RUNCTL_API_KEY_FILE: '',
    },
  });
