import type { JsonObject } from '../runs/json.ts';
import { type ExitName, exitCodeOf, publicNameOf, signalExits } from './exit-codes.ts';

/** Whether this command started a run; `unknown` when an answer to a trigger was lost. */
export type Started = 'yes' | 'no' | 'unknown';

export interface ProblemFacts {
  /** Gives the exit code. */
  name: ExitName;
  /** The name in documents, where it says more than that of the exit code: what kept a run from being followed, say. */
  shownName?: ExitName | 'idempotency_key_expired' | 'other_api_key';
  /** What happened and what it means for the run: one line, no full stop at its end. */
  message: string;
  /** The next command to type, or what to fix. */
  hint?: string;
  /** `no` unless said otherwise. */
  started?: Started;
  httpStatus?: number;
  serviceCode?: string;
  requestId?: string;
  idempotencyKey?: string;
  cause?: unknown;
}

// Ends after which the very same command may help, and can do no harm unless it has started a run.
const repeatable = new Set<ExitName>([
  'already_active',
  'rate_limited',
  'unavailable',
  'result_unavailable',
  'watch_timeout',
  ...Object.values(signalExits),
]);

/** The one error that is meant for the user. Anything else that is thrown is a fault of runctl itself (70). */
export class Problem extends Error {
  readonly facts: ProblemFacts & { started: Started };

  constructor(facts: ProblemFacts) {
    super(facts.message, { cause: facts.cause });
    this.name = 'Problem';
    this.facts = { started: 'no', ...facts };
  }

  get exitCode(): number {
    return exitCodeOf(this.facts.name);
  }

  get safeToRepeat(): boolean {
    return repeatable.has(this.facts.name) && this.facts.started === 'no';
  }

  /** The same problem with more known about it. */
  with(facts: Partial<ProblemFacts>): Problem {
    return new Problem({ ...this.facts, ...facts });
  }

  /** The `problem` of a JSON document. */
  toJSON(): JsonObject {
    const { name, shownName, message, hint, started, httpStatus, serviceCode, requestId, idempotencyKey } = this.facts;
    const exitCode = this.exitCode;
    return {
      code: exitCode,
      name: shownName ?? publicNameOf(name),
      exitCode,
      message,
      hint: hint ?? null,
      started,
      safeToRepeat: this.safeToRepeat,
      ...(httpStatus !== undefined && { httpStatus }),
      ...(serviceCode !== undefined && { serviceCode }),
      ...(requestId !== undefined && { requestId }),
      ...(idempotencyKey !== undefined && { idempotencyKey }),
    };
  }
}

/** Bad arguments or settings: exit 2, nothing was sent or written. */
export function usageProblem(message: string, hint?: string): Problem {
  return new Problem({ name: 'usage', message, hint });
}
