import type { OutputOptions } from '../output/output.ts';
import { defaults } from '../run/limits.ts';

export type IfActive = 'fail' | 'skip' | 'wait';

/** What the flags of `trigger` and `watch` ask for. */
export interface ActionFlags extends OutputOptions {
  ifActive?: IfActive;
  /** A `trigger` flag: follow the run. */
  watch?: boolean;
  timeout?: number; // milliseconds; 0 means no limit
  giveUpAfter?: number; // milliseconds
  interval?: number; // milliseconds
  /** Requests per second. */
  rate?: number;
  onFinal?: string;
  /** A `watch` flag: the runs are the journal's unfinished ones. */
  all?: boolean;
}

/** What a command is to do: its flags, with every default filled in. */
export interface Plan extends Omit<ActionFlags, 'timeout' | 'giveUpAfter' | 'interval'> {
  timeoutMs: number; // infinite if there is no limit
  rate: number;
  giveUpAfterMs: number;
  intervalMs?: number;
}

export function planOf({ timeout = defaults.timeoutMs, giveUpAfter, interval, ...flags }: ActionFlags): Plan {
  return {
    ...flags,
    timeoutMs: timeout === 0 ? Number.POSITIVE_INFINITY : timeout,
    rate: flags.rate ?? defaults.rate,
    giveUpAfterMs: giveUpAfter ?? defaults.giveUpAfterMs,
    intervalMs: interval,
  };
}
