import type { Outcome } from '../run/outcome.ts';
import type { Diagnostic } from '../run/problem.ts';
import type { HintContext } from './hint-context.ts';
import { diagnosticInDoubt } from './in-doubt-diagnostics.ts';
import { diagnosticWithoutRun } from './trigger-diagnostics.ts';
import {
  diagnosticOfFailedRequest,
  diagnosticOfUnreadResult,
  diagnosticOfWatchEnd,
} from './watch-diagnostics.ts';

/**
 * The message for an outcome. Undefined if nothing went wrong, or if the summary of the run says
 * what did.
 */
export function diagnosticOf(outcome: Outcome, hintContext: HintContext): Diagnostic | undefined {
  return (
    diagnosticOfKind(outcome, hintContext) ??
    (outcome.interruptedBy && diagnosticOfSignal(outcome, hintContext))
  );
}

/** The message for an outcome that has none of its own but was interrupted by a signal. */
function diagnosticOfSignal({ run }: Outcome, { argumentOf }: HintContext): Diagnostic {
  return run
    ? { message: 'interrupted; the run continues', hint: `\`runctl watch ${argumentOf(run)}\`` }
    : { message: 'interrupted' };
}

function diagnosticOfKind(outcome: Outcome, hintContext: HintContext): Diagnostic | undefined {
  switch (outcome.kind) {
    case 'no_run':
      return diagnosticWithoutRun(outcome, hintContext);
    case 'in_doubt':
      return diagnosticInDoubt(outcome);
    case 'status':
      return diagnosticOfUnreadResult(outcome, hintContext);
    case 'watch_ended':
      return diagnosticOfWatchEnd(outcome, hintContext);
    case 'request_failed':
      return diagnosticOfFailedRequest(outcome, hintContext);
    case 'not_found':
      return { message: 'the service no longer knows this run' };
    case 'problem':
      return outcome.problem.facts;
    case 'dry_run':
    case 'skipped':
    case 'has_run':
    case 'info':
      return undefined;
  }
}
