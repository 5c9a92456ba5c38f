import type { ExitName } from './exit-codes.ts';
import type { Fault } from './fault.ts';
import { typedIn } from './quote.ts';

/** Names of problems that share the exit code of an unknown outcome. */
export const causesOfUnknown = ['idempotency_key_expired', 'other_api_key'] as const;

/** The name of a problem in documents. */
export type ProblemName = ExitName | (typeof causesOfUnknown)[number];

export const isCauseOfUnknown = (name: ProblemName): name is (typeof causesOfUnknown)[number] =>
  causesOfUnknown.some((cause) => cause === name);

/** A message for people about something that went wrong. */
export interface Diagnostic {
  /** What happened and what it means for the run: one line, without a full stop. */
  message: string;
  /** What to choose from, one per line. */
  choices?: readonly string[];
  /**
   * What to fix, or the next command to type. The command is in backquotes, and is printed on its
   * own line.
   */
  hint?: string;
  /**
   * A person has to look before the command in the hint is typed, so the JSON document doesn't name
   * it as the next command.
   */
  needsPerson?: boolean;
}

interface ProblemFacts extends Diagnostic {
  name: ExitName;
  /** The name in documents, if that says more than the name of the exit code. */
  shownName?: ProblemName;
  /** A run may have been started whose id isn't known, as always with `outcome_unknown`. */
  started?: 'unknown';
  /** The request that failed. */
  fault?: Fault;
  cause?: unknown;
}

/**
 * The only error that leaves a command on purpose. Any other one is a bug in runctl (exit code 70).
 * Errors of files and of the transport are caught where they arise.
 */
export class Problem extends Error {
  readonly facts: ProblemFacts;

  constructor(facts: ProblemFacts) {
    super(facts.message, { cause: facts.cause });
    this.name = 'Problem';
    this.facts = facts;
  }

  with(facts: Partial<ProblemFacts>): Problem {
    return new Problem({ ...this.facts, ...facts });
  }
}

/** The problem that was thrown. Throws any other error again, because that is a bug. */
export function problemOrThrow(error: unknown): Problem {
  if (error instanceof Problem) return error;
  throw error;
}

/** Whether a run may have been started whose id isn't known. */
export const isRunPossible = ({ facts }: Problem): boolean =>
  facts.name === 'outcome_unknown' || facts.started === 'unknown';

/** Bad arguments or settings: exit 2, nothing was sent or written. */
export function usageProblem(message: string, hint?: string): Problem {
  return new Problem({ name: 'usage', message, hint });
}

/** The problem of a command that was interrupted before it had an outcome. */
export const interruptedProblem = (name: ExitName): Problem =>
  new Problem({ name, message: 'interrupted' });

/** The first command in a hint that can be typed as it is, without a placeholder. */
export const commandIn = ({ hint = '' }: Diagnostic): string | undefined =>
  typedIn(hint).find((typed) => /^runctl (?!.*<\w+>)/.test(typed));
