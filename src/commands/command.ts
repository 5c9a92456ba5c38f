import type { Command } from 'commander';
import type { JsonObject } from '../core/run.ts';
import type { Output } from '../output/print.ts';

/** What a command returns. It prints nothing on stdout itself and sets no exit code. */
export interface CommandResult extends Output {
  /** Instead of the reports' (`emulator` exits with the code of the command that it ran). */
  exitCode?: number;
  /** Called once everything has been printed. */
  afterPrint?(): void;
}

/** The command below this one that a word names. */
export const subcommandNamed = ({ commands }: Command, word: string): Command | undefined =>
  commands.find((each) => each.name() === word || each.aliases().includes(word));

/** What a command returns that isn't about a run: a document, and the same as text. */
export const done = (document: JsonObject, text?: string): CommandResult => ({
  reports: [{ kind: 'done', exit: 'ok', text, document }],
  show: 'text',
});
