import type { Ports } from '../ports.ts';
import { isOpen } from '../run/entry.ts';
import type { Fault } from '../run/fault.ts';
import type { ActiveRun } from '../run/outcome.ts';
import type { Target } from '../run/run.ts';

/**
 * The active run because of which a trigger was refused: the one that the refusal names, else the
 * last one in the journal if that is unfinished. Undefined for any other refusal.
 */
export function activeRunOf(fault: Fault, target: Target, ports: Ports): ActiveRun | undefined {
  if (fault.kind !== 'already_active') return undefined;
  const { journal, baseUrl } = ports;
  const named = fault.executionId;
  const executionId = named ?? lastUnfinished(target, ports);
  if (executionId === undefined)
    return { mayBeLost: journal.unresolved({ baseUrl, target }).length > 0 };
  // If only the journal says that this run is active, it may have finished since it was last
  // polled, so no time is given.
  const since = named === undefined ? undefined : journal.find(named, { baseUrl })?.startedAt;
  return { executionId, since };
}

/** The id of the last run of a target, if that was unfinished when it was last polled. */
function lastUnfinished(target: Target, { journal, baseUrl, clock }: Ports): string | undefined {
  for (const entry of journal.entries({ baseUrl, target })) {
    if (entry.kind === 'unresolved') continue;
    const isUnfinished = entry.kind === 'run' && !entry.isFinal && isOpen(entry, clock.nowMs());
    return isUnfinished ? entry.executionId : undefined;
  }
  return undefined;
}
