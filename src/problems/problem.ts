import { type ExitName, exitCodeOf } from './exit-codes.ts';

/** Whether this command started a run; `unknown` when an answer to a trigger was lost. */
export type Started = 'yes' | 'no' | 'unknown';

/** Names of problems that share the exit code of an unknown outcome. */
export const causesOfUnknown = ['idempotency_key_expired', 'other_api_key'] as const;

interface ProblemFacts {
  name: ExitName;
  /** The name in documents, if it says more than that of the exit code, such as why a watch failed. */
  shownName?: ExitName | (typeof causesOfUnknown)[number];
  /** What happened and what it means for the run: one line, no full stop at its end. */
  message: string;
  /** What to choose from, a line each. */
  choices?: readonly string[];
  /** What to fix, or the next command to type between backquotes; perhaps with more lines below. */
  hint?: string;
  /** `no` unless said otherwise. */
  started?: Started;
  httpStatus?: number;
  serviceCode?: string;
  requestId?: string;
  retryAfterMs?: number;
  /** The run of somebody else that was in the way. */
  activeExecutionId?: string;
  cause?: unknown;
}

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

  with(facts: Partial<ProblemFacts>): Problem {
    return new Problem({ ...this.facts, ...facts });
  }
}

/** Bad arguments or settings: exit 2, nothing was sent or written. */
export function usageProblem(message: string, hint?: string): Problem {
  return new Problem({ name: 'usage', message, hint });
}

/** A trigger that may have started a run whose id is not known. */
export const inDoubtProblem = (facts: Omit<ProblemFacts, 'name' | 'started'>): Problem =>
  new Problem({ name: 'outcome_unknown', started: 'unknown', ...facts });
