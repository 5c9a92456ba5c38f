import { type Command, InvalidArgumentError, Option } from 'commander';
import { settingFlags } from '../config/setting-table.ts';
import { errorTypes } from '../problems/next-step.ts';
import { usageProblem } from '../problems/problem.ts';
import { defaults } from '../runs/defaults.ts';
import { formatDuration, parseDuration } from '../runs/duration.ts';

/** A duration as it is typed. */
export const typed = (ms: number) => formatDuration(ms).replace(' ', '');

const durationForms = 'give a duration like 500ms, 30s, 5m, 1h30m or 2d';

/** Milliseconds of a duration. Throws InvalidArgumentError for any other text. */
function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new InvalidArgumentError(durationForms);
  return ms;
}

/** `--timeout 0` never ends. */
const durationOrZero = (text: string) => (text === '0' ? 0 : duration(text));

function positiveDuration(text: string): number {
  const ms = duration(text);
  if (ms === 0) throw new InvalidArgumentError('it must be more than 0');
  return ms;
}

const whole = (least: number, most: number) => (text: string) => {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < least || number > most) {
    throw new InvalidArgumentError(`give a whole number from ${least} to ${most}`);
  }
  return number;
};

/** Requests a second, seconds a second. */
const mostTimes = 100_000;

function positive(text: string): number {
  const number = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || number <= 0 || number > mostTimes) {
    throw new InvalidArgumentError(`give a number greater than 0, at most ${mostTimes}`);
  }
  return number;
}

const byteUnits: Record<string, number> = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };

function size(text: string): number {
  const [, number, unit] = /^(\d+)(KiB|MiB|GiB)$/.exec(text) ?? [];
  const bytes = Number(number) * (byteUnits[unit ?? ''] ?? Number.NaN);
  // A string cannot hold much more.
  if (!(bytes > 0 && bytes <= 2 ** 29)) throw new InvalidArgumentError('give a size like 64MiB, at most 512MiB');
  return bytes;
}

function fieldPath(text: string, earlier: string[] = []): string[] {
  if (text.split('.').some((key) => key === '')) throw new InvalidArgumentError('give a path like summary.failedSteps');
  return [...earlier, text];
}

const idempotencyKey = (text: string) => {
  // It travels in a header.
  if (!/^[\x21-\x7e]{1,255}$/.test(text)) {
    throw new InvalidArgumentError('give 1 to 255 visible ASCII characters without blanks');
  }
  return text;
};

/** One that the service never tells would never start a run again, and nobody would notice. */
export const errorTypeNames = (text: string) => {
  const list = text.split(',').map((name) => name.trim());
  const odd = list.find((name) => !errorTypes.includes(name));
  if (odd !== undefined) throw new InvalidArgumentError(`${JSON.stringify(odd)} is none of ${errorTypes.join(', ')}`);
  return list;
};

const nonEmpty = (text: string) => {
  if (text === '') throw new InvalidArgumentError('it is empty');
  return text;
};

const settings = 'Settings:';
const output = 'Output:';
const following = 'Following:';
const starting = 'Starting:';

type OptionSpec = [flags: string, about: string, parse?: (text: string, earlier: never) => unknown, name?: string];

export const exitStatus = ['--exit-status', 'end with the code of the run, 124 while it is going'] as const;

/** Each group is one subject of `--help`; a duration's name tells its unit once it is parsed. */
const groups = {
  settings: [
    settings,
    [
      ...settingFlags.map(([flag, about]): OptionSpec => [flag, about, nonEmpty]),
      ['--debug', 'show the exchange with the service on stderr'],
    ],
  ],
  output: [
    output,
    [
      ['--json', 'print one JSON document'],
      ['--field <path>', 'print the raw value of a field, e.g. summary.failedSteps (repeatable)', fieldPath],
      ['-q, --quiet', 'print nothing but what was asked for and what went wrong'],
    ],
  ],
  events: [output, [['--events', 'print a JSON object a line as things happen']]],
  patience: [
    following,
    [
      [
        '--give-up-after <duration>',
        `time without one good answer (default: ${typed(defaults.giveUpAfterMs)})`,
        positiveDuration,
        'giveUpAfterMs',
      ],
    ],
  ],
  following: [
    following,
    [
      [
        '--timeout <duration>',
        `stop waiting after this time; the run goes on; 0 never (default: ${typed(defaults.timeoutMs)})`,
        durationOrZero,
        'timeoutMs',
      ],
      [
        '--give-up-after <duration>',
        `time without one good answer (default: ${typed(defaults.watchGiveUpAfterMs)}; ${typed(defaults.giveUpAfterMs)} to start a run)`,
        positiveDuration,
        'giveUpAfterMs',
      ],
      [
        '--interval <duration>',
        'fixed time between two looks (default: by age and history)',
        positiveDuration,
        'intervalMs',
      ],
      ['--rate <number>', 'most requests a second (default: 10)', positive],
      ['--bell', 'ring the bell of the terminal when all is over'],
      ['--on-final <command>', 'run by the shell when a run has ended, the JSON document on its input', nonEmpty],
    ],
  ],
  download: [output, [['--max-output <size>', 'largest result that is read (default: 64MiB)', size]]],
  starting: [
    starting,
    [
      ['--idempotency-key <key>', 'a key that starts one run, however often it is used', idempotencyKey],
      ['--splay <duration>', 'wait a random part of this time first', duration, 'splayMs'],
    ],
  ],
  run: ['Run:', [['-a, --automation <name>', 'automation of a run that the journal does not know', nonEmpty]]],
} satisfies Record<string, [string, OptionSpec[]]>;

export type OptionGroup = keyof typeof groups;

/** Adds groups of options to a command. */
export function withOptions(command: Command, ...wanted: OptionGroup[]): Command {
  for (const name of wanted) {
    const [heading, specs] = groups[name] as [string, OptionSpec[]];
    for (const spec of specs) command.addOption(createOption(spec).helpGroup(heading));
  }
  return command;
}

export function createOption([flags, about, parse, name]: OptionSpec): Option {
  const option = new Option(flags, about);
  if (parse) option.argParser(parse as (text: string, earlier: unknown) => unknown);
  if (name) option.attributeName = () => name;
  return option;
}

export { duration, positive, whole };

interface OutputChoice {
  json?: boolean;
  field?: string[];
  events?: boolean;
}

/** Options that contradict each other are refused before anything is sent. */
export function checked<T extends OutputChoice>(options: T): T {
  const chosen = [options.json && '--json', options.field && '--field', options.events && '--events'].filter(Boolean);
  if (chosen.length > 1) throw usageProblem(`${chosen.join(' and ')} do not go together`);
  return options;
}
