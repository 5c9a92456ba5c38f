import type { Ports } from '../../src/ports.ts';
import type { RunEvent } from '../../src/run/events.ts';
import type { RunHandle } from '../../src/run/outcome.ts';
import type { Run } from '../../src/run/run.ts';
import type { RunSnapshot, Service } from '../../src/run/service.ts';
import { createRateLimiter, type RateLimiter } from '../../src/service/rate-limiter.ts';
import { watchRun } from '../../src/watch/watch-run.ts';
import { createWatchSession } from '../../src/watch/watch-session.ts';
import { createConnection } from '../helpers/connection.ts';
import { hour, second } from '../helpers/durations.ts';
import { run } from '../helpers/scripted-service.ts';
import { createVirtualClock, type VirtualClock } from '../helpers/virtual-clock.ts';

interface Setting {
  followed?: Run;
  clock?: VirtualClock;
  signal?: AbortSignal;
  chance?: number;
  /** Requests a second. */
  rate?: number;
  limiter?: RateLimiter;
}

interface Asked
  extends Pick<RunHandle, 'sinceTriggerMs'>,
    Partial<Pick<Ports, 'giveUpAfterMs' | 'reloadApiKey' | 'watchOptions'>> {
  timeoutMs?: number;
  /** What the trigger of the run was answered with. */
  known?: RunSnapshot;
  retryAfterMs?: number;
}

/** Watches one run to its end, polled every 10 s unless asked otherwise; the clock is virtual. */
export async function watch(
  service: Service,
  { timeoutMs = 3.25 * hour, known, sinceTriggerMs, retryAfterMs, ...ports }: Asked = {},
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
  const triggerResponse = known && { snapshot: known, retryAfterMs };
  const watched = await watchRun(
    { run: followed, triggerResponse, sinceTriggerMs },
    createConnection(service, {
      clock,
      signal,
      limiter,
      random: () => chance,
      session: createWatchSession(timeoutMs, clock),
      emit: (event) => events.push(event),
      watchOptions: { interval: 10 * second },
      ...ports,
    }),
  );
  const names = events.map(({ event }) => event).filter((event) => event !== 'waiting' && event !== 'warning');
  return { watched, events, names, elapsedMs: clock.elapsedMs() };
}
