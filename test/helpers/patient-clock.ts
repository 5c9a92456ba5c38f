import { systemClock } from '../../src/process.ts';
import type { LeapingClock } from './leaping-clock.ts';

/**
 * Waits in real time for a command to end, and for the polls of a list, which may run one, and leaps over any other pause.
 * Which pause it is doesn't follow from its length: a watch may wait just as long.
 */
export const patientClock = (clock: LeapingClock): LeapingClock => ({
  ...clock,
  sleep: (ms, signal) => (isForCommand() ? systemClock.sleep(ms, signal) : clock.sleep(ms, signal)),
});

const isForCommand = () => /\/(shell-command|refresh)\.ts/.test(String(new Error().stack));
