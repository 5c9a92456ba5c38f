/** A setting as contract §2 has it: the one table behind the resolution, `config`, the help and the README. */
export interface SettingSpec {
  key: SettingKey;
  about: string;
  flag: string;
  /** The variables that give it, the first before the second. */
  environment: readonly string[];
  fallback: string;
}

export type SettingKey = 'apiKey' | 'baseUrl' | 'project' | 'profile' | 'requestTimeout';

export const settingTable = [
  {
    key: 'apiKey',
    about: 'API key',
    flag: '--api-key-file <path>',
    environment: ['RUNCTL_API_KEY', 'RUNCTL_API_KEY_FILE'],
    fallback: 'none: required',
  },
  {
    key: 'baseUrl',
    about: 'base address',
    flag: '--base-url <url>',
    environment: ['RUNCTL_BASE_URL'],
    fallback: 'none: required',
  },
  {
    key: 'project',
    about: 'project',
    flag: '--project <uuid>',
    environment: ['RUNCTL_PROJECT'],
    fallback: 'none',
  },
  {
    key: 'profile',
    about: 'profile',
    flag: '--profile <name>',
    environment: ['RUNCTL_PROFILE'],
    fallback: 'default',
  },
  {
    key: 'requestTimeout',
    about: 'per-request limit',
    flag: '--request-timeout <duration>',
    environment: ['RUNCTL_REQUEST_TIMEOUT'],
    fallback: '30s',
  },
] as const satisfies readonly SettingSpec[];

export const settingKeys: readonly SettingKey[] = settingTable.map(({ key }) => key);

export function specOf(key: SettingKey): SettingSpec {
  return settingTable.find((spec) => spec.key === key) ?? settingTable[0];
}
