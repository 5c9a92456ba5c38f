import type { Context } from '../context.ts';
import { Problem } from '../problems/problem.ts';
import { mask } from './api-key.ts';
import { findSettings, parse, type SettingFlags } from './find-settings.ts';
import { parseSetting } from './parse-setting.ts';
import { findConfigFolder, findStateFolder } from './paths.ts';
import { storedKeys } from './setting-table.ts';

/** A setting in force as it may be shown: the API key masked. */
export interface DescribedSetting {
  key: string;
  /** Undefined where nobody gave one, or where it is refused. */
  value?: string;
  source?: string;
  /** Why it is refused. */
  problem?: Problem;
}

/** Every setting in force and where it comes from. One that is refused does not hide the others. */
export async function describeSettings(flags: SettingFlags, context: Context): Promise<DescribedSetting[]> {
  const { env } = context;
  const { profile, given } = await findSettings(flags, context);
  const stored = storedKeys.map((key): DescribedSetting => {
    const found = given[key];
    if (!found) return { key };
    const { source } = found;
    try {
      const value = parse(found, parseSetting[key]);
      return { key, value: key === 'apiKey' ? mask(value) : value, source };
    } catch (error) {
      if (error instanceof Problem) return { key, source, problem: error };
      throw error;
    }
  });
  const config = findConfigFolder(env);
  const state = findStateFolder(env);
  return [
    ...stored,
    { key: 'profile', value: profile.name, source: profile.source },
    { key: 'configFolder', value: config?.path, source: config?.source },
    { key: 'stateFolder', value: state?.path, source: state?.source },
  ];
}
