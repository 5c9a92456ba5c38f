import type { OutputOptions } from '../output/output.ts';
import { defaults } from '../run/limits.ts';

export type IfActive = 'fail' | 'skip' | 'wait';

/** What the flags of `trigger` and `watch` ask for. */
export interface ActionFlags extends OutputOptions {
  ifActive?: IfActive;
  /** A `trigger` flag: follow the run. */
  watch?: boolean;
  timeoutMs?: number; // 0 means no limit
  giveUpAfterMs?: number;
  intervalMs?: number;
  /** Requests per second. */
  rate?: number;
  onFinal?: string;
  /** A `watch` flag: the runs are the journal's unfinished ones. */
  all?: boolean;
}

/** What a command is to do: its flags, with every default filled in. */
export interface Plan extends ActionFlags {
  timeoutMs: number; // infinite if there is no limit
  rate: number;
  giveUpAfterMs: number;
}

export function planOf({ timeoutMs = defaults.timeoutMs, ...flags }: ActionFlags): Plan {
  return {
    ...flags,
    timeoutMs: timeoutMs === 0 ? Number.POSITIVE_INFINITY : timeoutMs,
    rate: flags.rate ?? defaults.rate,
    giveUpAfterMs: flags.giveUpAfterMs ?? defaults.giveUpAfterMs,
  };
}
