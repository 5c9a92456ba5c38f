import { shellWord } from '../run/quote.ts';
import { type Setting, settingTable } from '../settings/table.ts';

/**
 * Adds to a suggested command the flags with which it uses the same service and project as this
 * one, such as ` --profile staging`. A command that doesn't connect stays as it is.
 */
export function withConnectionFlags(
  options: Readonly<Record<string, unknown>>,
): (commandLine: string) => string {
  const flags = connectionFlags(options);
  return (commandLine) => (connects(commandLine) ? commandLine + flags : commandLine);
}

/** Whether this suggested command line connects to the service. */
const connects = (line: string): boolean =>
  /^runctl (?!(completion|config(?! list)|emulator|explain|help|version)\b)\w/.test(line) &&
  !/ --help\b/.test(line);

/** The forwarded flags among these options, each with a blank before it. */
export function connectionFlags(options: Readonly<Record<string, unknown>>): string {
  return forwardedFlags
    .filter(({ name }) => typeof options[name] === 'string')
    .map(({ name, flag }) => ` ${flag} ${shellWord(String(options[name]))}`)
    .join('');
}

const forwardedFlags = Object.entries<Setting>(settingTable).flatMap(
  ([name, { flag, isForwarded }]) =>
    flag && isForwarded ? { name, flag: flag.split(' ')[0] } : [],
);
