import { type Problem, usageProblem } from '../problems/problem.ts';
import { type SettingKey, type StoredKey, settingTable } from './setting-table.ts';

/** A setting that was set: its value, or why it is refused. The source names the flag, the variable or the profile. */
export type Given =
  | { value: string; source: string; problem?: undefined }
  | { value?: undefined; source: string; problem: Problem };

export interface Resolved {
  value?: string;
  source?: string;
  problem?: Problem;
  /** Instead of the API key's value, the shell command that prints it. */
  command?: string;
}

/** Checks a setting's text. Never throws: a refused setting only stops commands that need it. */
export function parseSetting(key: StoredKey, text: string, source: string): Given {
  const { name, parse, hint } = settingTable[key];
  const parsed = parse(text);
  if ('value' in parsed) return { value: parsed.value, source };
  return { source, problem: usageProblem(`the ${name} (${source}) ${parsed.flaw}`, hint) };
}

/** The value, or undefined if it isn't set. Throws a usage problem if the setting is refused. */
export function valueIfGiven({ value, problem }: Resolved): string | undefined {
  if (problem) throw problem;
  return value;
}

export const flagSource = (key: SettingKey) => `flag ${settingTable[key].flag?.split(' ')[0]}`;
