import type { Processes } from '../journal/processes.ts';
import type { RunHandle, TriggerOutcome } from '../run/outcome.ts';
import type { Target } from '../run/run.ts';
import type { IfActive } from '../run/trigger.ts';
import type { WatchPorts } from '../watch/ports.ts';

/** What starting needs of the world; a `Connection` is one. */
export interface StartPorts extends WatchPorts {
  ignoresKeys: boolean; // the setting says that the service ignores idempotency keys
  processes: Processes;
}

/** What to start. */
export interface StartRequest {
  target: Target;
  body: string; // the exact bytes
  idempotencyKey?: string; // given by the user
  ifActive?: IfActive;
}

export interface Triggered {
  outcome: TriggerOutcome;
  handle?: RunHandle; // the run to follow
}
