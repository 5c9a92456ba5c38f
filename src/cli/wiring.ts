import type { Command } from 'commander';
import type { Context } from '../context.ts';

/** What the commands of the command line are tied to. */
export interface Wiring {
  context: Context;
  /** Takes what a command returns: its exit code. */
  done(exit: Promise<number>): Promise<void>;
}

/** Gives a command its options and its action. */
export type Wire = (command: Command, wiring: Wiring) => void;
