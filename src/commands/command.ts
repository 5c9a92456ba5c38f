import type { Output } from '../output/print.ts';

/** What a command returns. It prints nothing on stdout itself and sets no exit code. */
export interface CommandResult extends Output {
  /** Instead of the reports' (`emulator` exits with the code of the command that it ran). */
  exitCode?: number;
  /** Called once everything has been printed. */
  afterPrint?(): void;
}
