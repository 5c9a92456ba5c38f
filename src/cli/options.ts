import { flawOfAutomation, flawOfRun, flawOfSelection } from '../connection/arguments.ts';
import { defaults } from '../run/limits.ts';
import { type Setting, type SettingKey, settingTable } from '../settings/table.ts';
import { formatDuration } from '../system/time-text.ts';
import { argument, common, flag, type OptionDefinition, option, under } from './define-command.ts';
import { durationOrZero, fieldPath, nonEmpty, positive, positiveDuration } from './values.ts';

// Options that several commands share: each command takes the groups that it needs.

const name = 'name, or <projectId>/<name>';
export const automationArguments = { ...argument('<automation...>', name), flawOf: flawOfAutomation };
export const selectedAutomations = {
  ...argument('[automation...]', `${name} (default: all)`),
  flawOf: flawOfSelection,
};
export const runArgument = {
  ...argument(
    '[run]',
    'run id or a prefix of it, automation (its last run), <projectId>/<name>/<executionId>, or @last (default)',
  ),
  flawOf: flawOfRun,
};

export const asTyped = (ms: number) => formatDuration(ms).replace(' ', '');

const giveUpOption = (afterMs: number) => ({
  giveUpAfterMs: option(
    '--give-up-after <duration>',
    `give up after this long without a valid response (default: ${asTyped(afterMs)})`,
    positiveDuration,
  ),
});

export const giveUpOptions = giveUpOption(defaults.giveUpAfterMs);

export const readGiveUpOptions = giveUpOption(defaults.readGiveUpAfterMs);

const followingOptions = under('Following:', {
  timeoutMs: option(
    '--timeout <duration>',
    `stop waiting after this time; the run continues (0: never) (default: ${asTyped(defaults.timeoutMs)})`,
    durationOrZero,
  ),
  ...giveUpOptions,
  intervalMs: {
    ...option('--interval <duration>', 'fixed time between polls (default: adaptive)', positiveDuration),
    needs: ['watch', 'ifActive=wait'],
  },
  rate: option('--rate <number>', `maximum requests per second (default: ${defaults.rate})`, positive),
  onFinal: {
    ...option('--on-final <command>', 'run this shell command for each finished run', nonEmpty),
    needs: ['watch'],
  },
});

export const outputOptions = under(common, {
  json: {
    ...flag('--json', 'print JSON, one document per line'),
    refuses: ['field'],
    instead: 'leave out `--json`',
  },
  field: option('--field <path>', 'print the value of a field, such as status (repeatable)', fieldPath),
  quiet: flag('-q, --quiet', 'print only what you asked for, plus errors'),
});

export const settingOptions = under(common, {
  apiKeyFile: settingOption('apiKey'),
  baseUrl: settingOption('baseUrl'),
  project: settingOption('project'),
  profile: settingOption('profile'),
  requestTimeout: settingOption('requestTimeout'),
  debug: flag('--debug', 'print every request and response to stderr'),
});

function settingOption(key: SettingKey): OptionDefinition<string> {
  const { flag = '', shortFlag, flagAbout = '' }: Setting = settingTable[key];
  return option(shortFlag ? `${shortFlag}, ${flag}` : flag, flagAbout, nonEmpty);
}

export const followOptions = { ...followingOptions, ...outputOptions, ...settingOptions };
