/** A limit that is meant to strike, where nothing else ends the case: time enough to connect on a busy machine. */
export const shortLimitMs = 300;

/** A limit that must not strike, even where the machine stands still for seconds. */
export const ampleLimitMs = 20_000;

/** What ends by itself has ended by then, also on such a machine; what hangs has not. */
export const atOnceMs = 10_000;

/** What happens at once takes less than this on a machine on which a program takes `startMs` to start, and may then stand still. */
export const atOnceAfter = (startMs: number): number => 5 * startMs + 2_000;

/** What it costs in CPU time, to which a machine that stands still adds nothing. */
export function cpuMsOf(act: () => unknown): number {
  const before = process.cpuUsage();
  act();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
