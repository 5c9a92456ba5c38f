import { type ExitName, exitCodeOf } from '../../src/problems/exit-codes.ts';

const final: ExitName[] = [
  'run_failed',
  'usage',
  'run_timed_out',
  'run_cancelled',
  'not_found',
  'unauthorized',
  'no_credits',
  'rejected',
  'outcome_unknown',
];

/** After these, trying again helps nobody: the run ended badly, someone has to fix something first, or `runctl recover` is due. */
export const finalCodes = final.map(exitCodeOf);
