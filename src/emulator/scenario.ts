/** A text such as `500ms`, `20s`, `1h30m` (contract §2). */
export type Duration = string;

/** How the emulated service behaves: a JSON document in which everything is optional. `{}` is a service without faults. */
export interface Scenario {
  /** Plans by automation name; `"*"` is any other name. Without `"*"` other names get 404. Default `{"*": {}}`. */
  automations?: Record<string, AutomationPlan>;
  /** `discontinued` (default): the Agent trigger answers 410. `accept`: it starts a run as it once did. */
  agents?: 'discontinued' | 'accept';
  agentRun?: AgentPlan;
  faults?: Fault[];
  /** Form of error bodies, which the interface leaves open. Default `flat`. */
  errorShape?: ErrorShape;
  /** What a trigger looks up first: the idempotency key (default) or an active run. */
  order?: 'keyFirst' | 'activeFirst';
  /** A key that was answered with a refusal gets the same refusal again. Default false. */
  replayErrors?: boolean;
  /** The 422 `runAlreadyActive` names the active `executionId`. Default false. */
  namesActiveRun?: boolean;
  /** At most so many requests in any window of real time, of triggers (default) or of everything. */
  rateLimit?: {
    requests: number;
    window: Duration;
    on?: 'trigger' | 'any';
    retryAfter?: 'seconds' | 'date' | 'none';
  };
  /** The credit balance. Every run that ends takes its `creditsCharged`; at 0 a trigger gets 402. Default: endless. */
  credits?: number;
  /** Default `3h`. */
  runLimit?: Duration;
  /** Accepted beside the emulator's own key; idempotency keys are scoped by them. */
  apiKeys?: string[];
}

export type Outcome = 'COMPLETED' | 'FAILED' | 'TIMED_OUT' | 'CANCELLED';

interface Plan<State> {
  /** Time from start to end on the emulator's clock. Default `20s`. */
  duration?: Duration;
  /** Final state; of a list the first run takes the first, and so on: the last one stays. Default `COMPLETED`. */
  outcome?: State | State[];
  /** For so long after the 201 the run cannot be found. */
  statusLate?: Duration;
  /** Unknown fields to add to bodies, or values to put in place of known ones. */
  extra?: Record<string, unknown>;
}

export interface AutomationPlan extends Plan<Outcome> {
  /** Default 3 steps, of which 1 failed if the run FAILED. The rest succeeded. */
  steps?: { count?: number; failed?: number; skipped?: number };
  output?: string | null;
  /** Told unless the run COMPLETED. */
  error?: { type: string; message: string } | null;
  creditsCharged?: number;
  /** For so long after the end the result still says RUNNING. */
  resultLate?: Duration;
}

/** The final states of Agents are not documented, so any text may be one. */
export type AgentPlan = Plan<string>;

export type ErrorShape = 'flat' | 'string' | 'nested' | 'list' | 'problem' | 'data' | 'text' | 'html' | 'empty';

/** Strikes a request that meets every condition given. Of several, the first in the list strikes. */
export type Fault = FaultCondition & FaultAction;

export interface FaultCondition {
  /** Default `any`. */
  on?: 'trigger' | 'status' | 'result' | 'any';
  automation?: string;
  /** The age of the run in question, on the emulator's clock. */
  during?: { after?: Duration; for?: Duration };
  /** Numbers count the requests that meet the conditions above, from 1. */
  nth?: number;
  from?: number;
  to?: number;
  every?: number;
  /** Probability, 0 to 1. */
  chance?: number;
}

/** Unless noted, a struck request does not reach the service; with `acts` it does, and only its answer is lost. */
export type FaultAction =
  /** Answers this instead. */
  | { do: 'status'; status: number; body?: unknown; headers?: Record<string, string>; acts?: boolean }
  /** A proxy's page, 200 by default. */
  | { do: 'html'; status?: number; acts?: boolean }
  /** RST, FIN, or silence instead of an answer. */
  | { do: 'reset' | 'close' | 'hang'; acts?: boolean }
  /** The service acts, then RST. */
  | { do: 'loseAnswer' }
  /** The true answer: after half its body silence, or FIN; or with another JSON document for a body. */
  | { do: 'hangBody' | 'truncate' | 'wrongJson' }
  /** The true answer a byte at a time, with this gap (default `100ms`) of real time between them. */
  | { do: 'drip'; gap?: Duration }
  /** The true answer, so much real time later. */
  | { do: 'delay'; delay: Duration }
  /** From this request on the key is refused. */
  | { do: 'revokeKey' };
