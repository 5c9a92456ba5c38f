import type { Fault, FaultKind } from './service.ts';

/** For so long after our own trigger the service may not know the run yet (field notes 14). */
export const readAfterWriteMs = 30_000;

// A certificate, proxy, redirect or endless page in the way of a run that was seen before is the network's doing (a
// hotel's login page, say), not the service's word on the run.
const ofTheNetwork = new Set<FaultKind>(['untrusted', 'proxy_refused', 'redirected', 'too_large']);

/**
 * Does a watch go on after this fault (contract §6)? Where it does, patience is what ends it.
 * @param known whether the run was ever seen, and how long ago this machine triggered it, if it did.
 */
export function isRiddenOut(fault: Fault, known: { isSeen: boolean; sinceTriggerMs?: number }): boolean {
  // Not only those 5xx that are worth repeating at once: a CDN has its own (520 to 530), and an hour to mend them.
  if (fault.transient || (fault.httpStatus ?? 0) >= 500) return true;
  if (fault.kind === 'not_found') return (known.sinceTriggerMs ?? Number.POSITIVE_INFINITY) < readAfterWriteMs;
  return known.isSeen && ofTheNetwork.has(fault.kind);
}
