import { shortSource } from '../config/profile.ts';
import { parseSettingKey, type Resolved, valueIfGiven } from '../config/setting-table.ts';
import { maskSecrets, resolveSettings, type SettingFlags } from '../config/settings.ts';
import { requireConfigFile } from '../config/store-profile.ts';
import type { Context } from '../context.ts';
import { usageProblem } from '../problems/problem.ts';
import { documentOf } from '../render/document.ts';
import { fields } from '../render/fields.ts';
import type { CommandResult } from '../render/output.ts';
import { cleanLine } from '../render/sanitize.ts';
import type { Theme } from '../render/theme.ts';
import type { JsonObject } from '../runs/json.ts';

export interface ConfigOptions extends SettingFlags {
  json?: boolean;
}

/** `runctl config get <key>`: the setting in force; a key masked. */
export async function configGet(name: string, options: ConfigOptions, context: Context): Promise<CommandResult> {
  const key = parseSettingKey(name);
  const { [key]: setting } = maskSecrets(await resolveSettings(options, context));
  const value = valueIfGiven(setting);
  if (value === undefined) {
    throw usageProblem(
      `${key} is not set`,
      `store it with \`runctl config set ${key}${key === 'apiKey' ? '' : ' <value>'}\``,
    );
  }
  return { documents: [configDocument({ [key]: factsOf(setting) }, context)], data: value };
}

/** `runctl config list`: every setting in force and where it comes from; a key masked. */
export async function configList(options: ConfigOptions, context: Context): Promise<CommandResult> {
  const settings = Object.entries(maskSecrets(await resolveSettings(options, context)));
  const document = Object.fromEntries(settings.map(([name, setting]) => [name, factsOf(setting)]));
  const rowsOf = (theme: Theme) => settings.map(([name, setting]) => [name, lineOf(setting, theme)] as const);
  return {
    documents: [configDocument(document, context)],
    text: (theme, lines) => fields(rowsOf(theme), theme, lines),
  };
}

const configDocument = (config: JsonObject, context: Context) => documentOf({ report: { config } }, context);

function factsOf({ value, source, problem }: Resolved): JsonObject {
  return { value: value ?? null, source: source ?? null, ...(problem && { problem: problem.message }) };
}

function lineOf({ value, source, problem }: Resolved, theme: Theme): string {
  if (problem) return theme.bad(`refused: ${cleanLine(problem.message)}`);
  if (value === undefined) return theme.dim('not set');
  return `${cleanLine(value)} ${theme.dim(`(${cleanLine(shortSource(source))})`)}`;
}

/** `runctl config path`: the path of the config file, whether or not it exists. */
export async function configPath(context: Context): Promise<CommandResult> {
  const path = requireConfigFile(context);
  return { documents: [configDocument({ path }, context)], data: path };
}
