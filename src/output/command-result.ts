import type { HintContext } from '../messages/hint-context.ts';
import type { ExitName } from '../run/exit-codes.ts';
import { commandExitNameOf } from '../run/exit-of.ts';
import type { Outcome } from '../run/outcome.ts';
import type { Theme } from './theme.ts';
import type { WrapOptions } from './wrap.ts';

/** The flags that decide what is printed of a result. */
export interface OutputOptions {
  json?: boolean;
  /** Paths of `--field`. */
  field?: string[];
  quiet?: boolean;
}

/** Whether stdout is for documents or their fields, and not for people. */
export const wantsData = ({ json, field }: OutputOptions) => Boolean(json || field?.length);

/** What a command returns. Each member says where it is printed, and with which flags. */
export interface CommandResult {
  /**
   * The outcome of each argument. With every flag, they decide the exit code and which problems are
   * printed on stderr. With `--json` or `--field`, stdout has one document for each of them.
   */
  outcomes?: readonly Outcome[];
  /**
   * The outcomes whose problems are still to be printed. By default all, but `recover` prints each
   * of its own at once.
   */
  unreported?: readonly Outcome[];
  /**
   * What the hints of problems and documents need. By default, nothing is known of this machine.
   */
  hintContext?: HintContext;
  /**
   * Whether the command line may be repeated without a second run. By default, it may if that is so
   * for each outcome.
   */
  isSafeToRepeat?: boolean;
  /** The exit name of the command if all its outcomes exit with `ok`. By default `ok`. */
  exit?: ExitName;
  /**
   * On stdout with every flag: what a command prints that has no documents, such as a script.
   * Sanitized only on a terminal.
   */
  script?: string;
  /** Printed without `--json` and `--field` only. */
  forPeople?: ResultForPeople;
  /** Sentences on stderr with every flag, because neither documents nor text show what they say. */
  notices?: readonly string[];
}

/** What is printed in place of documents. */
export interface ResultForPeople {
  /**
   * On stdout: a bare value that scripts may read, too, such as an id or a path. Sanitized only on
   * a terminal.
   */
  raw?: string;
  /**
   * On stdout: in the colors and the width of the terminal, and in CI without commands to the
   * runner.
   */
  text?(theme: Theme, lines: WrapOptions): string;
  /** On stderr: a sentence. */
  note?: string;
  /** On stderr: what to type next. */
  next?: string;
}

/** The exit names that decide the exit code of a command with this result. */
export const exitNamesOf = ({ outcomes = [], exit = 'ok' }: CommandResult): ExitName[] => [
  ...outcomes.map(commandExitNameOf),
  exit,
];
