import { type Clock, pause } from './clock.ts';
import { onAbort } from './on-abort.ts';

export type RateLimiter = ReturnType<typeof createRateLimiter>;

interface PollTurn {
  chance(): number; // from 0 to 1, that the run has finished: the poll with the highest is sent first
  leftMs(): number; // how much longer the poll may wait
}

interface Turn {
  isGranted: boolean; // false if its time passed first, or `signal` aborted
  woke: boolean; // the machine slept while it waited
}

interface Waiting {
  poll: PollTurn | undefined;
  woke: boolean;
  end(isGranted: boolean): void;
}

const slowest = 8;
const recoveryPerPoll = 0.9;
const queueSliceMs = 1000;
// The reason with which a pause is cut short: an abort without a reason creates an error with a stack.
const early = 'early';

/** `perSecond` may be a fraction. `onWait` gets the least time that a request will wait, in ms. */
export function createRateLimiter(perSecond: number, clock: Clock, onWait: (waitMs: number) => void = () => {}) {
  const most = Math.max(1, Math.floor(perSecond));
  const windowMs = Math.max(1000, 1000 / perSecond);
  const sentMs: number[] = [];
  const queue = new Set<Waiting>();
  let isServing = false;
  let alarm = new AbortController();
  let heldUntilMs = Number.NEGATIVE_INFINITY;
  let slowness = 1;

  return {
    /** Resolves when a request may be sent, when the time for it has passed, or when `signal` aborts. */
    take(signal: AbortSignal, poll?: PollTurn): Promise<Turn> {
      return new Promise((resolve) => {
        const waiting: Waiting = {
          poll,
          woke: false,
          end(isGranted) {
            stopListening();
            queue.delete(waiting);
            if (queue.size === 0) alarm.abort(early);
            resolve({ isGranted, woke: waiting.woke });
          },
        };
        const stopListening = onAbort(signal, () => waiting.end(false));
        queue.add(waiting);
        if (signal.aborted) return waiting.end(false);
        if (!isServing) void serve();
        else if (!poll) alarm.abort(early);
        if (queue.has(waiting)) onWait(leastWaitMs());
      });
    },
    hold(ms: number) {
      heldUntilMs = Math.max(heldUntilMs, clock.elapsedMs() + ms);
    },
    slowDown() {
      slowness = Math.min(slowest, slowness * 2);
    },
    /** Returns a gap between polls as `slowDown` has lengthened it; each call takes a tenth of that back. */
    stretch(gapMs: number) {
      const stretchedMs = gapMs * slowness;
      slowness = Math.max(1, slowness * recoveryPerPoll);
      return stretchedMs;
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

  /** Picks a request that is no poll, else the poll with the highest chance; of equals the one that came first. */
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
