import { type SettingKey, settingTable } from '../config/setting-table.ts';
import { usageProblem } from '../problems/problem.ts';
import { defaults } from '../runs/defaults.ts';
import { formatDuration } from '../runs/duration.ts';
import { argument, flag, type OptionDefinition, option, under } from './define-command.ts';
import {
  duration,
  durationOrZero,
  fieldPath,
  idempotencyKey,
  nonEmpty,
  positive,
  positiveDuration,
  size,
} from './values.ts';

// What several commands share: each takes the groups that it needs into its own options.

export const runArgument = argument(
  '[run]',
  'execution id or the beginning of one, an automation (its last run), <projectId>/<name>/<id> or @last (default: @last)',
);

/** A duration as it is typed. */
export const asTyped = (ms: number) => formatDuration(ms).replace(' ', '');

export const exitStatus = flag('--exit-status', 'end with the code of the run, 16 while it is unfinished');

const startingOptions = under('Starting:', {
  idempotencyKey: option(
    '--idempotency-key <key>',
    'starts one run, however often it is used; {automation} stands for the project and name',
    idempotencyKey,
  ),
  splayMs: option('--splay <duration>', 'wait a random part of this time first', duration),
});

/** Of commands that poll once: the time until they give up. */
export const giveUpOptions = under('Following:', {
  giveUpAfterMs: option(
    '--give-up-after <duration>',
    `time without one good answer (default: ${asTyped(defaults.giveUpAfterMs)})`,
    positiveDuration,
  ),
});

/** Of every command that triggers or follows. An empty one switches off the one of the profile. */
const onExitOption = { onExit: { ...settingOption('onExit'), parse: undefined } };

/** Of commands that send triggers, and follow no run. */
export const triggerGiveUpOptions = under('Following:', {
  giveUpAfterMs: option(
    '--give-up-after <duration>',
    `time without a valid answer (default: ${asTyped(defaults.triggerGiveUpAfterMs)})`,
    positiveDuration,
  ),
  ...onExitOption,
});

const followingOptions = under('Following:', {
  timeoutMs: option(
    '--timeout <duration>',
    `stop waiting after this time; the run goes on; 0 never (default: ${asTyped(defaults.timeoutMs)})`,
    durationOrZero,
  ),
  giveUpAfterMs: option(
    '--give-up-after <duration>',
    `time without one good answer (default: ${asTyped(defaults.watchGiveUpAfterMs)}; with \`trigger\`, to start a run: ${asTyped(defaults.triggerGiveUpAfterMs)})`,
    positiveDuration,
  ),
  intervalMs: option(
    '--interval <duration>',
    'fixed time between two looks (default: by age and history)',
    positiveDuration,
  ),
  rate: option('--rate <number>', `most requests a second (default: ${defaults.rate})`, positive),
  ...onExitOption,
  bell: flag('--bell', 'ring the bell of the terminal when all is over'),
  onFinal: option(
    '--on-final <command>',
    'run by the shell when a run has ended, the JSON document on its input',
    nonEmpty,
  ),
});

/** Which run is meant. */
export const runOptions = under('Run:', {
  automation: option('-a, --automation <name>', 'automation of a run that the journal does not know', nonEmpty),
});

export const resultOptions = under('Output:', {
  maxOutput: option(
    '--max-output <size>',
    `largest result that is read (default: ${defaults.maxOutputBytes / 2 ** 20}MiB)`,
    size,
  ),
});

export const outputOptions = under('Output:', {
  json: flag('--json', 'print one JSON document'),
  field: option('--field <path>', 'print the raw value of a field, e.g. summary.failedSteps (repeatable)', fieldPath),
  quiet: flag('-q, --quiet', 'print nothing but what was asked for and what went wrong'),
});

export const eventOptions = under('Output:', {
  events: flag('--events', 'print a JSON object a line as things happen'),
});

export const settingOptions = under('Settings:', {
  apiKeyFile: settingOption('apiKey'),
  baseUrl: settingOption('baseUrl'),
  project: settingOption('project'),
  profile: settingOption('profile'),
  requestTimeout: settingOption('requestTimeout'),
  debug: flag('--debug', 'show the exchange with the service on stderr'),
});

function settingOption(key: SettingKey): OptionDefinition<string> {
  const { flag = '', shortFlag, flagAbout = '' } = settingTable[key];
  return option(shortFlag ? `${shortFlag}, ${flag}` : flag, flagAbout, nonEmpty);
}

/** Of every command that follows runs. */
export const followOptions = {
  ...followingOptions,
  ...resultOptions,
  ...outputOptions,
  ...eventOptions,
  ...settingOptions,
};

/** Of every command that starts runs. */
export const startOptions = { ...startingOptions, ...followOptions };

/** Refuses ways of output that exclude one another. Throws a usage problem. */
export function checkOutput({ json, field, events }: Readonly<Record<string, unknown>>): void {
  const chosen = [json && '--json', field && '--field', events && '--events'].filter(Boolean);
  if (chosen.length > 1) throw usageProblem(`${chosen.join(' and ')} do not go together`);
}
