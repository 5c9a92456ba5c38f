import { type Problem, usageProblem } from '../problems/problem.ts';
import { type SettingKey, type StoredKey, settingTable } from './setting-table.ts';

/** A setting that was given: its value, or why it is refused. The source is the flag, the variable or the profile, in words. */
export type Given =
  | { value: string; source: string; problem?: undefined }
  | { value?: undefined; source: string; problem: Problem };

export interface Resolved {
  value?: string;
  source?: string;
  problem?: Problem;
  /** In place of the value of an API key: the shell command that prints it. */
  command?: string;
}

/** Checks the text of a setting. Never throws: one that is refused stops only the commands that need it. */
export function parseSetting(key: StoredKey, text: string, source: string): Given {
  const { name, parse, hint } = settingTable[key];
  const parsed = parse(text);
  if ('value' in parsed) return { value: parsed.value, source };
  return { source, problem: usageProblem(`the ${name} (${source}) ${parsed.flaw}`, hint) };
}

/** The value; undefined if it was not given. Throws the usage problem of a setting that is refused. */
export function valueIfGiven({ value, problem }: Resolved): string | undefined {
  if (problem) throw problem;
  return value;
}

export const flagSource = (key: SettingKey) => `flag ${settingTable[key].flag?.split(' ')[0]}`;
