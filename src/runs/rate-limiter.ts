import { type Clock, pause } from './clock.ts';
import { onAbort } from './on-abort.ts';

export type RateLimiter = ReturnType<typeof createRateLimiter>;

interface LimiterOptions {
  connections?: number; // shared by all requests that don't have their own
  onWait?(leastMs: number): void; // the shortest time that a request will wait
}

/** A request that waits for its turn. */
interface Wish {
  signal: AbortSignal;
  leftMs?(): number; // how much longer it may wait; forever if undefined
  chance?(): number; // of a poll: from 0 to 1, that its run has finished; the likeliest goes first, and `hold` holds it
  hasOwnConnection?: boolean;
  onWake?(): void; // the machine slept while it waited
}

interface Waiting extends Wish {
  end(isGranted: boolean): void;
}

// Requests arrive less evenly than they are sent, so a second counts as 5% longer.
const margin = 1.05;
/** How many turns missed by a busy process it can make up for. */
const busyMs = 100;
const queueSliceMs = 1000;
/** How long the order of polls is kept, so that thousands of polls aren't compared a thousand times a second. */
const orderHoldsMs = 100;
// The reason for cutting a pause short. An abort without a reason creates an error with a stack.
const early = 'early';

/**
 * Writes at most `perSecond` requests (may be a fraction) in any second, evenly spaced. A request that has its turn but
 * isn't written yet counts, too, because opening its connection may take long.
 */
export function createRateLimiter(perSecond: number, clock: Clock, options: LimiterOptions = {}) {
  const { connections = Number.POSITIVE_INFINITY, onWait = () => {} } = options;
  const most = Math.max(1, Math.floor(perSecond));
  const windowMs = margin * Math.max(1000, 1000 / perSecond);
  const betweenMs = margin * (1000 / perSecond);
  const writtenMs: number[] = []; // when the last `most` requests were written
  let unwritten = 0;
  let inFlight = 0; // on the shared connections
  let nextTurnMs = Number.NEGATIVE_INFINITY;
  let heldUntilMs = Number.NEGATIVE_INFINITY;
  const polls = new Set<Waiting>();
  const others = new Set<Waiting>(); // triggers and results
  const waitingCount = () => polls.size + others.size;
  let order: Waiting[] = []; // of the polls, the likeliest last
  let orderedMs = Number.NEGATIVE_INFINITY;
  let nextCheckMs = Number.NEGATIVE_INFINITY; // whether one of thousands has waited too long
  let isServing = false;
  let isBlocked = false; // until a request is written or ends
  let alarm = new AbortController();

  return {
    /** Makes the request when its turn comes. Undefined if its time passes first or its signal aborts. */
    async send<T>(wish: Wish, request: (onWrite: () => void) => Promise<T>): Promise<T | undefined> {
      if (!(await turn(wish))) return undefined;
      let isWritten = false;
      const onWrite = () => {
        if (isWritten) return;
        isWritten = true;
        unwritten -= 1;
        writtenMs.push(clock.elapsedMs());
        if (writtenMs.length > most) writtenMs.shift();
        if (isBlocked) alarm.abort(early);
      };
      try {
        return await request(onWrite);
      } finally {
        // A request that never got a connection counts, too, so that an unreachable service isn't hammered.
        onWrite();
        if (!wish.hasOwnConnection) inFlight -= 1;
        if (isBlocked) alarm.abort(early);
      }
    },
    /** Holds all polls for this long. */
    hold(ms: number) {
      heldUntilMs = Math.max(heldUntilMs, clock.elapsedMs() + ms);
      nextCheckMs = clock.elapsedMs();
    },
  };

  function turn(wish: Wish): Promise<boolean> {
    const { signal, chance, hasOwnConnection } = wish;
    if (signal.aborted) return Promise.resolve(false);
    if (!chance && waitingCount() === 0 && dueInMs() <= 0 && (hasOwnConnection || inFlight < connections)) {
      grant(wish);
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const queue = chance ? polls : others;
      const waiting: Waiting = {
        ...wish,
        end(isGranted) {
          stopListening();
          queue.delete(waiting);
          if (waitingCount() === 0) alarm.abort(early);
          resolve(isGranted);
        },
      };
      const stopListening = onAbort(signal, () => waiting.end(false));
      queue.add(waiting);
      nextCheckMs = Math.min(nextCheckMs, clock.elapsedMs() + lateInMs(waiting));
      if (!isServing) void serve();
      else if (!chance) alarm.abort(early);
      if (!queue.has(waiting)) return;
      const dueMs = unwritten < most ? dueInMs() : nextTurnMs - clock.elapsedMs();
      onWait(Math.max(dueMs + (waitingCount() - 1) * betweenMs, chance ? heldMs() : 0));
    });
  }

  function grant({ hasOwnConnection }: Wish): void {
    unwritten += 1;
    if (!hasOwnConnection) inFlight += 1;
    // One turn may be reserved, because a result is requested as soon as its run is final.
    nextTurnMs = Math.max(nextTurnMs, clock.elapsedMs() - Math.max(betweenMs, busyMs)) + betweenMs;
  }

  function heldMs(): number {
    return Math.max(0, heldUntilMs - clock.elapsedMs());
  }

  /** How long until the rate allows another request. Infinite while that depends on a request that isn't written yet. */
  function dueInMs(): number {
    if (unwritten >= most) return Number.POSITIVE_INFINITY;
    const counted = writtenMs.at(unwritten - most) ?? Number.NEGATIVE_INFINITY;
    return Math.max(nextTurnMs, counted + windowMs) - clock.elapsedMs();
  }

  /** How long until a request has waited too long. That is now for a poll that is held longer than it may wait. */
  function lateInMs({ chance, leftMs }: Wish): number {
    return leftMs ? leftMs() - (chance ? heldMs() : 0) : Number.POSITIVE_INFINITY;
  }

  async function serve(): Promise<void> {
    isServing = true;
    while (waitingCount() > 0) {
      if (clock.elapsedMs() >= nextCheckMs) endLate();
      const next = likeliest();
      if (next) {
        grant(next);
        next.end(true);
      } else if (waitingCount() > 0) await waitForChange();
    }
    isServing = false;
  }

  function endLate(): void {
    let soonestMs = queueSliceMs;
    for (const waiting of [...others, ...polls]) {
      const lateMs = lateInMs(waiting);
      if (lateMs <= 0) waiting.end(false);
      else soonestMs = Math.min(soonestMs, lateMs);
    }
    nextCheckMs = clock.elapsedMs() + soonestMs;
  }

  /** Waits until a request may go or has waited too long. Cut short if a request is added, is written or ends. */
  async function waitForChange(): Promise<void> {
    const soonMs = [dueInMs(), heldMs(), nextCheckMs - clock.elapsedMs()].filter((ms) => ms > 0);
    isBlocked = !(dueInMs() > 0 && dueInMs() < Number.POSITIVE_INFINITY);
    alarm = new AbortController();
    const woke = await pause(Math.min(...soonMs), clock, alarm.signal);
    if (woke) for (const { onWake } of [...others, ...polls]) onWake?.();
  }

  /** Picks a request that isn't a poll, else the poll with the highest chance. Ties go to the one that came first. */
  function likeliest(): Waiting | undefined {
    if (dueInMs() > 0) return undefined;
    const isFull = inFlight >= connections;
    for (const waiting of others) if (!isFull || waiting.hasOwnConnection) return waiting;
    if (isFull || heldMs() > 0) return undefined;
    if (clock.elapsedMs() - orderedMs >= orderHoldsMs) order = [];
    while (polls.size > 0) {
      if (order.length === 0) orderPolls();
      const next = order.pop();
      if (next && polls.has(next)) return next;
    }
    return undefined;
  }

  function orderPolls(): void {
    const rated = [...polls].map((poll) => ({ poll, chance: polls.size > 1 ? (poll.chance?.() ?? 0) : 1 }));
    order = rated
      .reverse()
      .sort((one, another) => one.chance - another.chance)
      .map(({ poll }) => poll);
    orderedMs = clock.elapsedMs();
  }
}
