import { configFilePath, loadConfigFile } from '../config/file.ts';
import { askHidden } from '../config/hidden-prompt.ts';
import { maskKey, readAll } from '../config/secret.ts';
import { type SettingKey, settingKeys } from '../config/setting-table.ts';
import { resolveSettings, type SettingFlags, type Settings } from '../config/settings.ts';
import { readers } from '../config/values.ts';
import type { Context } from '../context.ts';
import { block } from '../render/block.ts';
import { createTheme } from '../render/theme.ts';
import { quote } from '../runs/arguments.ts';
import { formatDuration } from '../runs/duration.ts';
import { usageProblem } from '../runs/problem.ts';

export interface ConfigOptions extends SettingFlags {
  json?: boolean;
}

/** `runctl config get <key>`: a setting in force. */
export async function configGet(name: string, options: ConfigOptions, context: Context): Promise<number> {
  const key = settingKeyOf(name);
  const value = shownValue(key, await resolveSettings(options, context));
  if (value === undefined) throw usageProblem(`${key} is not set`, `store it with \`runctl config set ${key}\``);
  context.stdout.write(`${options.json ? JSON.stringify({ [key]: value }) : value}\n`);
  return 0;
}

/** `runctl config list`: every setting in force, and where it comes from. */
export async function configList(options: ConfigOptions, context: Context): Promise<number> {
  const settings = await resolveSettings(options, context);
  const rows = settingKeys.map((key) => ({ key, value: shownValue(key, settings), source: settings.sources[key] }));
  const { stdout, unicode } = context;
  if (options.json) {
    const document = Object.fromEntries(rows.map(({ key, value, source }) => [key, { value: value ?? null, source }]));
    stdout.write(`${JSON.stringify(document)}\n`);
    return 0;
  }
  const theme = await createTheme({ colors: stdout.colors, unicode });
  const shown = rows.map(({ key, value, source }) => {
    return [key, value === undefined ? theme.dim('not set') : `${value}  ${theme.dim(`(${source})`)}`] as const;
  });
  stdout.write(block(shown, theme));
  return 0;
}

/** `runctl config path`. */
export async function configPath(options: ConfigOptions, context: Context): Promise<number> {
  const path = requirePath(context);
  context.stdout.write(`${options.json ? JSON.stringify({ path }) : path}\n`);
  return 0;
}

/** `runctl config set <key> [value]`: stores a setting in a profile. Everything is checked before anything is written. */
export async function configSet(
  name: string,
  value: string | undefined,
  options: ConfigOptions,
  context: Context,
): Promise<number> {
  const key = settingKeyOf(name);
  if (key === 'apiKey' && value !== undefined) {
    throw usageProblem(
      'an API key on the command line can be read by every user of this machine',
      'type `runctl config set apiKey` alone and be asked, or pipe the key into it',
    );
  }
  const path = requirePath(context);
  const file = loadConfigFile(path);
  const text = value ?? (await askFor(key, context));
  const read = readers[key](text, `config set ${key}`);
  const stored = typeof read === 'string' ? read : text;
  if (key === 'profile' && stored !== 'default' && !Object.hasOwn(file.profiles ?? {}, stored)) {
    throw usageProblem(
      `there is no profile ${quote(stored)}`,
      `make it first with \`runctl config set baseUrl <url> --profile ${stored}\``,
    );
  }
  const profile = profileOf(options, context, file.profile);
  const { changeConfigFile, childOf } = await import('../config/store.ts');
  changeConfigFile(path, (content) => {
    if (key === 'profile') content.profile = stored;
    else childOf(childOf(content, 'profiles'), profile)[key] = stored;
  });
  context.stderr.write(`stored ${key}${key === 'profile' ? '' : ` in profile ${quote(profile)}`}: ${path}\n`);
  return 0;
}

/** `runctl config unset <key>`. */
export async function configUnset(name: string, options: ConfigOptions, context: Context): Promise<number> {
  const key = settingKeyOf(name);
  const path = requirePath(context);
  const file = loadConfigFile(path);
  const profile = profileOf(options, context, file.profile);
  const isStored = key === 'profile' ? file.profile !== undefined : file.profiles?.[profile]?.[key] !== undefined;
  if (!isStored) {
    context.stderr.write(`${key} was not stored${key === 'profile' ? '' : ` in profile ${quote(profile)}`}\n`);
    return 0;
  }
  const { changeConfigFile, childOf } = await import('../config/store.ts');
  changeConfigFile(path, (content) => {
    if (key === 'profile') delete content.profile;
    else delete childOf(childOf(content, 'profiles'), profile)[key];
  });
  context.stderr.write(`removed ${key}\n`);
  return 0;
}

function settingKeyOf(name: string): SettingKey {
  const key = settingKeys.find((candidate) => candidate === name);
  if (key) return key;
  const near = settingKeys.find((candidate) => candidate.toLowerCase() === name.toLowerCase().replace(/[_-]/g, ''));
  throw usageProblem(
    `there is no setting ${quote(name)}`,
    near ? `did you mean ${near}?` : `the settings are ${settingKeys.join(', ')}`,
  );
}

function requirePath({ env }: Context): string {
  const path = configFilePath(env);
  if (path) return path;
  throw usageProblem('there is no place for a config file: HOME is not set', 'set HOME or RUNCTL_CONFIG_DIR');
}

/** The profile that a change goes to; it need not exist yet. */
function profileOf({ profile }: ConfigOptions, { env }: Context, stored: string | undefined): string {
  return readers.profile(profile ?? (env.RUNCTL_PROFILE || stored || 'default'), '--profile');
}

async function askFor(key: SettingKey, context: Context): Promise<string> {
  const { stdin } = context;
  if (key !== 'apiKey') throw usageProblem(`no value for ${key}`, `type \`runctl config set ${key} <value>\``);
  return stdin.isTTY ? askHidden('API key (not shown): ', context) : readAll(stdin);
}

function shownValue(key: SettingKey, settings: Settings): string | undefined {
  if (key === 'apiKey') return settings.apiKey && maskKey(settings.apiKey);
  if (key === 'requestTimeout') return formatDuration(settings.requestTimeoutMs);
  return settings[key];
}
