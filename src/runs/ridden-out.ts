import type { Fault, FaultKind } from './service.ts';

const readAfterWriteMs = 30_000;

/** Wall clock, in milliseconds. */
export interface Since {
  nowMs: number;
  /** When this machine triggered the run, if it did. */
  triggeredAtMs: number | undefined;
}

/** Is this a not-found so soon after the trigger that the service may not find its own new run yet? */
export function isTooEarly(fault: Fault, { nowMs, triggeredAtMs }: Since): boolean {
  return fault.kind === 'not_found' && triggeredAtMs !== undefined && nowMs - triggeredAtMs < readAfterWriteMs;
}

// A certificate, proxy, redirect or oversized page that appears after the run was already polled comes from the network
// (a hotel's login page, for example) and says nothing about the run.
const ofTheNetwork = new Set<FaultKind>(['untrusted', 'proxy_refused', 'redirected', 'too_large']);

/** Should the watch keep polling after this failure? If so, only `--give-up-after` or `--timeout` ends it. */
export function isRiddenOut(fault: Fault, known: Since & { isSeen: boolean }): boolean {
  // Every 5xx, not only those that are retried at once: a CDN has codes of its own (520 to 530), and they can last.
  if (fault.transient || (fault.httpStatus ?? 0) >= 500) return true;
  return isTooEarly(fault, known) || (known.isSeen && ofTheNetwork.has(fault.kind));
}
