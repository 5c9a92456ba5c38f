import { type Clock, pause } from './clock.ts';
import { onAbort } from './on-abort.ts';

/** Spaces the requests of this process. */
export interface RateLimiter {
  /** Resolves when a request may be sent, when the time for it has passed, or when `signal` aborts. */
  take(signal: AbortSignal, poll?: PollTurn): Promise<Turn>;
  /** The service answered 429 or 503 and names a wait: no poll is sent before, of whatever run. */
  hold(ms: number): void;
  /** The service answered 429: doubles the time between polls, to eight times at most. */
  slowDown(): void;
  /** The time between two polls, in milliseconds, stretched after a 429; each call takes back a tenth of the factor. */
  stretch(gapMs: number): number;
}

/** How a poll waits for its turn; every other request is sent before all polls. */
interface PollTurn {
  /** The chance that the run has finished: where polls wait for one another, the likeliest is sent first. */
  chance(): number;
  /** For how much longer it may wait, in milliseconds. */
  leftMs(): number;
}

interface Turn {
  /** False where the time for it passed first. */
  isGranted: boolean;
  /** The machine slept, or the process was stopped, meanwhile. */
  woke: boolean;
}

interface Waiting {
  poll: PollTurn | undefined;
  woke: boolean;
  end(isGranted: boolean): void;
}

const slowest = 8;
const recoveryPerPoll = 0.9;
/** How long a turn may be waited for unnoticed after its time has passed. */
const queueSliceMs = 1000;

/**
 * Lets at most `perSecond` requests go in any second, or one in `1 / perSecond` seconds where that is less than one.
 * `onWait` is called for each request that has to wait for its turn, with the least that it has to wait.
 */
export function createRateLimiter(
  perSecond: number,
  clock: Clock,
  onWait: (waitMs: number) => void = () => {},
): RateLimiter {
  const most = Math.max(1, Math.floor(perSecond));
  const windowMs = Math.max(1000, 1000 / perSecond);
  /** When the last `most` requests went, oldest first. */
  const sentMs: number[] = [];
  const queue = new Set<Waiting>();
  let isServing = false;
  let alarm = new AbortController();
  let heldUntilMs = Number.NEGATIVE_INFINITY;
  let slowness = 1;

  return {
    take(signal, poll) {
      return new Promise((resolve) => {
        const waiting: Waiting = {
          poll,
          woke: false,
          end(isGranted) {
            stopListening();
            queue.delete(waiting);
            if (queue.size === 0) alarm.abort();
            resolve({ isGranted, woke: waiting.woke });
          },
        };
        const stopListening = onAbort(signal, () => waiting.end(false));
        queue.add(waiting);
        if (signal.aborted) return waiting.end(false);
        if (!isServing) void serve();
        else if (!poll) alarm.abort();
        if (queue.has(waiting)) onWait(leastWaitMs());
      });
    },
    hold(ms) {
      heldUntilMs = Math.max(heldUntilMs, clock.elapsedMs() + ms);
    },
    slowDown() {
      slowness = Math.min(slowest, slowness * 2);
    },
    stretch(gap) {
      const stretched = gap * slowness;
      slowness = Math.max(1, slowness * recoveryPerPoll);
      return stretched;
    },
  };

  function leastWaitMs(): number {
    const [oldestMs = 0] = sentMs;
    const turnMs = sentMs.length < most ? 0 : oldestMs + windowMs - clock.elapsedMs();
    return Math.max(turnMs + Math.floor((queue.size - 1) / most) * windowMs, heldUntilMs - clock.elapsedMs());
  }

  async function serve(): Promise<void> {
    isServing = true;
    while (queue.size > 0) {
      const nowMs = clock.elapsedMs();
      const dueMs = (sentMs.length < most ? nowMs : (sentMs[0] ?? nowMs) + windowMs) - nowMs;
      const holdMs = heldUntilMs - nowMs;
      for (const { poll, end } of [...queue]) if (poll && Math.max(0, holdMs) >= poll.leftMs()) end(false);
      const next = dueMs > 0 ? undefined : likeliest(holdMs > 0);
      if (next) {
        sentMs.push(nowMs);
        if (sentMs.length > most) sentMs.shift();
        next.end(true);
      } else if (queue.size > 0) {
        alarm = new AbortController();
        const leftMs = Math.min(queueSliceMs, ...[...queue].map(({ poll }) => poll?.leftMs() ?? queueSliceMs));
        const woke = await pause(Math.min(leftMs, dueMs > 0 ? dueMs : holdMs), clock, alarm.signal);
        if (woke) for (const waiting of queue) waiting.woke = true;
      }
    }
    isServing = false;
  }

  /** Of equal chances the one that has waited longest; undefined where every one is held. */
  function likeliest(isHeld: boolean): Waiting | undefined {
    let best: Waiting | undefined;
    let bestChance = Number.NEGATIVE_INFINITY;
    for (const waiting of queue) {
      const { poll } = waiting;
      if (!poll) return waiting;
      if (isHeld) continue;
      const chance = queue.size > 1 ? poll.chance() : 1;
      if (chance > bestChance) [best, bestChance] = [waiting, chance];
    }
    return best;
  }
}
