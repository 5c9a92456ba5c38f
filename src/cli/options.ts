import { Command, Option, type OptionValues } from 'commander';
import { version } from '../../package.json';
import { defaults } from '../run/limits.ts';
import { formatDuration } from '../system/time-text.ts';
import { durationOrZero, fieldPath, nonEmpty, positive, positiveDuration } from './values.ts';

export const common = 'Common:';

/**
 * The program without its commands. Its flags are those that every command takes, before or after
 * the name of the command.
 */
export const root = new Command('runctl')
  .version(version, '-V, --version', 'show the version')
  .optionsGroup(common)
  .addOption(new Option('--json', 'print JSON, one document per line').conflicts('field'))
  .option('--field <path>', 'print the value of a field, such as status (repeatable)', fieldPath)
  .option('-q, --quiet', 'print only what you asked for, plus errors')
  .option('--api-key-file <path>', 'read the API key from a file (- for standard input)', nonEmpty)
  .option('--base-url <url>', 'base URL of the service', nonEmpty)
  .option('-p, --project <uuid>', 'project ID (UUID) of automations given by name', nonEmpty)
  .option('--profile <name>', 'profile in the config file', nonEmpty)
  .option('--request-timeout <duration>', 'time limit for one request', nonEmpty)
  .option('--debug', 'print every request and response to stderr')
  .option('--no-color', 'print without colors');

export type SharedFlags = ReturnType<typeof root.opts>;

export const commonOptions = root.options.filter(
  ({ helpGroupHeading }) => helpGroupHeading === common,
);

// Flags that several commands share.

export const automationHelp = 'name, or <projectId>/<name>';
export const selectionHelp = `${automationHelp} (default: all)`;
export const runHelp =
  'run id or a prefix of it, automation (its last run), <projectId>/<name>/<executionId>, or @last (the default on a terminal)';

/** A duration as it is typed: `1h30m`. */
export const asTyped = (ms: number) => formatDuration(ms).replace(' ', '');

const giveUpAfterOption = (
  afterMs: number,
  description = 'give up after this long without a valid response',
  other = '',
) =>
  new Option(
    '--give-up-after <duration>',
    `${description} (default: ${asTyped(afterMs)}${other})`,
  ).argParser(positiveDuration);

export const giveUpAfter = giveUpAfterOption(defaults.giveUpAfterMs);
export const giveUpReadingAfter = giveUpAfterOption(defaults.readGiveUpAfterMs);
export const giveUpListingAfter = giveUpAfterOption(
  defaults.listGiveUpAfterMs,
  'stop polling after this long',
  `; on a terminal: ${asTyped(defaults.listGiveUpAtTerminalMs)}`,
);

/** Adds the flags of commands that watch runs. */
export const withWatchFlags = <Args extends unknown[], Own extends OptionValues>(
  command: Command<Args, Own>,
) =>
  command
    .optionsGroup('Following:')
    .option(
      '--timeout <duration>',
      `stop waiting after this time, while the run continues (default: ${asTyped(defaults.timeoutMs)}, 0: never)`,
      durationOrZero,
    )
    .addOption(giveUpAfter)
    .option(
      '--interval <duration>',
      'fixed time between polls (default: adaptive)',
      positiveDuration,
    )
    .option('--rate <number>', `maximum requests per second (default: ${defaults.rate})`, positive)
    .option('--on-final <command>', 'run this shell command for each finished run', nonEmpty);
