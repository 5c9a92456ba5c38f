import type { OutputOptions } from '../render/output.ts';

export type IfActive = 'fail' | 'skip' | 'wait' | 'attach';

/** What the flags of `trigger` and `watch` ask for. */
export interface ActionFlags extends OutputOptions {
  idempotencyKey?: string;
  ifActive?: IfActive;
  splayMs?: number;
  /** Of `trigger`: the run is then followed, and an active one is polled before it is attached to. */
  watch?: boolean;
  rerunOn?: string[];
  maxReruns?: number;
  timeoutMs?: number;
  giveUpAfterMs?: number;
  intervalMs?: number;
  /** Requests a second. */
  rate?: number;
  onFinal?: string;
  bell?: boolean;
  failFast?: boolean;
  /** Of `watch`: the runs are those of the journal. */
  all?: boolean;
}
