import { type ExitName, exitCodeOf } from './exit-codes.ts';

/** Names of problems that share the exit code of an unknown outcome. */
export const causesOfUnknown = ['idempotency_key_expired', 'other_api_key'] as const;

interface ProblemFacts {
  name: ExitName;
  /** The name in documents, if it says more than that of the exit code, such as why a watch failed. */
  shownName?: ExitName | (typeof causesOfUnknown)[number];
  /** What happened and what it means for the run: one line, without a full stop. */
  message: string;
  /** What to choose from, one per line. */
  choices?: readonly string[];
  /** What to fix, or the next command to type between backquotes; perhaps with more lines below. */
  hint?: string;
  /** Somebody has to look before the command in the hint is typed, so documents name none as the next. */
  isForPerson?: boolean;
  /** A run may have been started whose id isn't known, as always with `outcome_unknown`. */
  started?: 'unknown';
  httpStatus?: number;
  serviceCode?: string;
  requestId?: string;
  retryAfterMs?: number;
  /** The active run that caused the refusal. */
  activeExecutionId?: string;
  cause?: unknown;
}

/** The only error meant for the user. Anything else that is thrown is a bug in runctl (70). */
export class Problem extends Error {
  readonly facts: Omit<ProblemFacts, 'started'> & { started: 'no' | 'unknown' };

  constructor(facts: ProblemFacts) {
    super(facts.message, { cause: facts.cause });
    this.name = 'Problem';
    const isUnknown = facts.name === 'outcome_unknown' || facts.started === 'unknown';
    this.facts = { ...facts, started: isUnknown ? 'unknown' : 'no' };
  }

  get exitCode(): number {
    return exitCodeOf(this.facts.name);
  }

  with(facts: Partial<ProblemFacts>): Problem {
    const { started, ...own } = this.facts;
    return new Problem({ ...own, ...(started === 'unknown' && { started }), ...facts });
  }
}

/** Bad arguments or settings: exit 2, nothing was sent or written. */
export function usageProblem(message: string, hint?: string): Problem {
  return new Problem({ name: 'usage', message, hint });
}

/** A trigger that may have started a run whose id isn't known. */
export const inDoubtProblem = (facts: Omit<ProblemFacts, 'name' | 'started'>): Problem =>
  new Problem({ name: 'outcome_unknown', ...facts });
