import { versions } from 'node:process';
import { setFlagsFromString } from 'node:v8';

interface Flag {
  on: string;
  /** What undoes it, and what it implies. */
  off: readonly string[];
}

const baselineOnly: Flag = {
  on: '--liftoff-only',
  off: ['--no-liftoff-only', '--wasm-tier-up', '--wasm-dynamic-tiering'],
};
const youngFirst: Flag = { on: '--no-allocation-site-pretenuring', off: ['--allocation-site-pretenuring'] };
const slowGrowth: Flag = { on: '--heap-growing-percent=40', off: ['--heap-growing-percent=0'] };

const inForce = new Set<Flag>();

/**
 * undici's HTTP parser is WebAssembly, which V8 optimises in the background; on Node 20 the process then waits for that
 * at its end: 80 ms and 35 MB. To be called after undici is loaded (before, it costs 25 ms) and before its first request.
 * Newer versions do not wait, and there it only costs.
 */
export function spareOptimising(): void {
  if (versions.node.startsWith('20.')) set(baselineOnly);
}

/**
 * Every look at a run leaves what lives until the next one, which V8 takes for long-lived: at 5,000 runs it lets 40 MB
 * grow to 130 before it looks again. To be looked at after every 40 % instead costs a fiftieth of the time. And what the
 * first looks make lives long, since they wait for one another: V8 would keep the like of it among the long-lived from
 * then on, which costs a tenth of the time.
 */
export function expectLongWatch(): void {
  set(slowGrowth);
  set(youngFirst);
}

function set(flag: Flag): void {
  inForce.add(flag);
  setFlagsFromString(flag.on);
}
