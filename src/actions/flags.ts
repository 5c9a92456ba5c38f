import type { OutputOptions } from '../render/output.ts';

export type IfActive = 'fail' | 'skip' | 'wait' | 'attach';

/** What the flags of `trigger` and `watch` ask for. */
export interface ActionFlags extends OutputOptions {
  ifActive?: IfActive;
  splayMs?: number;
  /** A flag of `trigger`: the run is then followed, and an active one is polled before attaching to it. */
  watch?: boolean;
  rerunOn?: string[];
  maxReruns?: number;
  timeoutMs?: number;
  giveUpAfterMs?: number;
  intervalMs?: number;
  /** Requests a second. */
  rate?: number;
  onFinal?: string;
  failFast?: boolean;
  /** A flag of `watch`: the runs are the unfinished ones of the journal. */
  all?: boolean;
}
