import type { RunEvent } from '../../src/run/events.ts';
import type { Run } from '../../src/run/run.ts';
import type { Service } from '../../src/run/service.ts';
import { createRateLimiter, type RateLimiter } from '../../src/service/rate-limiter.ts';
import { createWatchGroup } from '../../src/watching/watch-group.ts';
import { type Followable, type WatchOptions, type WatchPorts, watchToEnd } from '../../src/watching/watch-run.ts';
import { run } from '../helpers/scripted-service.ts';
import { createVirtualClock, type VirtualClock } from '../helpers/virtual-clock.ts';

export const second = 1000;
export const minute = 60 * second;
export const hour = 60 * minute;

interface Setting {
  followed?: Run;
  clock?: VirtualClock;
  signal?: AbortSignal;
  chance?: number;
  /** Requests a second. */
  rate?: number;
  limiter?: RateLimiter;
}

/** Watches one run to its end, polled every 10 s; the clock is virtual. */
export async function watch(
  service: Service,
  {
    giveUpAfterMs = 10 * minute,
    timeoutMs = 3.25 * hour,
    known,
    sinceTriggerMs,
    retryAfterMs,
    ...options
  }: Partial<
    WatchOptions &
      Pick<Followable, 'known' | 'sinceTriggerMs' | 'retryAfterMs'> &
      Pick<WatchPorts, 'giveUpAfterMs'> & { timeoutMs: number }
  > = {},
  {
    followed = run,
    clock = createVirtualClock(),
    signal = new AbortController().signal,
    chance = 0.5,
    rate = 10,
    limiter = createRateLimiter(rate, clock),
  }: Setting = {},
) {
  const events: RunEvent[] = [];
  const watched = await watchToEnd(
    { run: followed, known, sinceTriggerMs, retryAfterMs },
    { gapMs: () => 10 * second, ...options },
    {
      service,
      clock,
      random: () => chance,
      signal,
      limiter,
      group: createWatchGroup(timeoutMs, clock),
      giveUpAfterMs,
      requestTimeoutMs: 30 * second,
      observe: (event) => events.push(event),
    },
  );
  const names = events.map(({ event }) => event).filter((event) => event !== 'waiting');
  return { watched, events, names, elapsedMs: clock.elapsedMs() };
}
