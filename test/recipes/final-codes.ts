import { type ExitName, exitCodeOf } from '../../src/problems/exit-codes.ts';

const final: ExitName[] = [
  'run_failed',
  'usage',
  'run_timed_out',
  'run_cancelled',
  'not_found',
  'unauthorized',
  'no_credits',
  'outcome_unknown',
];

/** After these nothing triggers again: the run did not complete, someone has to fix something, or a run may exist. */
export const finalCodes = final.map(exitCodeOf);
