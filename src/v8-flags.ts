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

/** V8 takes no code that was made under other flags: undoes the one above, and what it implies. */
export function restoreFlags(): void {
  if (isNode20)
    for (const flag of ['no-liftoff-only', 'wasm-tier-up', 'wasm-dynamic-tiering']) setFlagsFromString(`--${flag}`);
}
