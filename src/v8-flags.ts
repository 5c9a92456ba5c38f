import { versions } from 'node:process';
import { setFlagsFromString } from 'node:v8';

const isNode20 = versions.node.startsWith('20.');

/**
 * undici's HTTP parser is WebAssembly, which V8 optimises in the background; on Node 20 the process then waits for that
 * at its end: 80 ms and 35 MB. To be called after undici is loaded (before, it costs 25 ms) and before its first request.
 * Newer versions do not wait, and there it only costs.
 */
export function spareOptimising(): void {
  if (isNode20) setFlagsFromString('--liftoff-only');
}

/**
 * Every look at a run leaves what lives until the next one, which V8 takes for long-lived: at 5,000 runs it lets 40 MB
 * grow to 130 before it looks again. To be looked at after every 40 % instead costs a fiftieth of the time.
 */
export function growSlowly(): void {
  setFlagsFromString('--heap-growing-percent=40');
}

/** V8 takes no code that was made under other flags: undoes those above, and what they imply. */
export function restoreFlags(): void {
  setFlagsFromString('--heap-growing-percent=0');
  if (!isNode20) return;
  for (const flag of ['no-liftoff-only', 'wasm-tier-up', 'wasm-dynamic-tiering']) setFlagsFromString(`--${flag}`);
}
