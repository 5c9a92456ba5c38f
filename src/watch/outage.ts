import type { Ports } from '../ports.ts';
import type { Fault } from '../run/fault.ts';

/**
 * Whether there is no connection, though the base URL has responded to this machine before, so that
 * it most likely is right.
 */
export function isOutage(
  { kind, hint }: Fault,
  { journal, baseUrl }: Pick<Ports, 'journal' | 'baseUrl'>,
): boolean {
  const mayBe = kind === 'unreachable' && hint === undefined;
  return mayBe && journal.entries({ baseUrl, hasRun: true }).next().done !== true;
}
