import type { Outcome } from '../run/outcome.ts';
import type { Diagnostic } from '../run/problem.ts';
import type { HintContext } from './hint-context.ts';
import { diagnosticInDoubt } from './of-in-doubt.ts';
import { diagnosticWithoutRun } from './of-trigger.ts';
import { diagnosticOfFailedRequest, diagnosticOfUnreadResult, diagnosticOfWatchEnd } from './of-watch.ts';

/** What people are told of an outcome. Undefined if nothing went wrong, or if the run's summary says it all. */
export function diagnosticOf(outcome: Outcome, hintContext: HintContext): Diagnostic | undefined {
  return diagnosticOfKind(outcome, hintContext) ?? (outcome.interruptedBy && diagnosticOfSignal(outcome, hintContext));
}

/** A signal came when nothing else was left to say. */
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
