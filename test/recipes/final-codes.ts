import { type ExitName, exitCodeOf } from '../../src/problems/exit-codes.ts';

const final: ExitName[] = [
  'run_failed',
  'usage',
  'run_timed_out',
  'run_cancelled',
  'not_found',
  'unauthorized',
  'no_credits',
];

/** After these, trying again helps nobody: the run ended badly, or someone has to mend something first. */
export const finalCodes = final.map(exitCodeOf);
