import type { Fault, FaultKind } from './service.ts';

const readAfterWriteMs = 30_000;

/** Wall clock, in milliseconds. */
export interface Since {
  nowMs: number;
  /** When this machine triggered the run, if it did. */
  triggeredAtMs: number | undefined;
}

/** The service may not know its own newest run for a moment (field notes 14). */
export function isTooEarly(fault: Fault, { nowMs, triggeredAtMs }: Since): boolean {
  return fault.kind === 'not_found' && triggeredAtMs !== undefined && nowMs - triggeredAtMs < readAfterWriteMs;
}

// A certificate, proxy, redirect or endless page in the way of a run that was seen before is the network's doing (a
// hotel's login page, say), not the service's word on the run.
const ofTheNetwork = new Set<FaultKind>(['untrusted', 'proxy_refused', 'redirected', 'too_large']);

/** Does a watch go on after this fault (contract §6)? Where it does, patience is what ends it. */
export function isRiddenOut(fault: Fault, known: Since & { isSeen: boolean }): boolean {
  // Not only those 5xx that are worth repeating at once: a CDN has its own (520 to 530), and an hour to mend them.
  if (fault.transient || (fault.httpStatus ?? 0) >= 500) return true;
  return isTooEarly(fault, known) || (known.isSeen && ofTheNetwork.has(fault.kind));
}
