import type { OutputOptions } from '../render/output.ts';

export type IfActive = 'fail' | 'skip' | 'wait' | 'attach';

/** What the flags of `trigger` and `watch` ask for. */
export interface ActionFlags extends OutputOptions {
  ifActive?: IfActive;
  splayMs?: number;
  /** A `trigger` flag: follow the run, and poll an active run before attaching to it. */
  watch?: boolean;
  rerunOn?: string[];
  maxReruns?: number;
  timeoutMs?: number;
  giveUpAfterMs?: number;
  intervalMs?: number;
  /** Requests per second. */
  rate?: number;
  onFinal?: string;
  /** A `watch` flag: the runs are the journal's unfinished ones. */
  all?: boolean;
}
