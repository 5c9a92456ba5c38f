import { type Clock, pause } from './clock.ts';
import { onAbort } from './on-abort.ts';

export type RateLimiter = ReturnType<typeof createRateLimiter>;

interface LimiterOptions {
  connections?: number; // which the requests share, but for those that have one of their own
  onWait?(leastMs: number): void; // the least time that a request will wait
}

/** A request that waits for its turn. */
interface Wish {
  signal: AbortSignal;
  leftMs?(): number; // how much longer it may wait; for ever unless given
  chance?(): number; // of a poll: from 0 to 1, that its run has finished; the likeliest goes first, and `hold` holds it
  hasOwnConnection?: boolean;
  onWake?(): void; // the machine slept while it waited
}

interface Waiting extends Wish {
  end(isGranted: boolean): void;
}

// What leaves evenly arrives less evenly: a second is counted 5 % longer.
const margin = 1.05;
/** Turns that a busy process has missed are made up for, as far as this. */
const busyMs = 100;
const queueSliceMs = 1000;
/** How long an order of the polls holds, so that thousands are not compared at each of a thousand turns a second. */
const orderHoldsMs = 100;
// The reason with which a pause is cut short: an abort without a reason creates an error with a stack.
const early = 'early';

/**
 * In no second are more requests written than `perSecond`, which may be a fraction, and their turns come evenly. A request
 * that has its turn but is not yet written counts as if it were: opening its connection may take long.
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
    /** Makes the request in its turn; undefined if the time for it has passed first, or its signal aborted. */
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
        // One that never reached a connection counts too: a service that cannot be reached is not to be hammered.
        onWrite();
        if (!wish.hasOwnConnection) inFlight -= 1;
        if (isBlocked) alarm.abort(early);
      }
    },
    /** Lets no poll go for so long. */
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
    // One turn may be kept: a result is asked for as soon as its run is final.
    nextTurnMs = Math.max(nextTurnMs, clock.elapsedMs() - Math.max(betweenMs, busyMs)) + betweenMs;
  }

  function heldMs(): number {
    return Math.max(0, heldUntilMs - clock.elapsedMs());
  }

  /** How long until the rate allows another request; infinite as long as that depends on what is not yet written. */
  function dueInMs(): number {
    if (unwritten >= most) return Number.POSITIVE_INFINITY;
    const counted = writtenMs.at(unwritten - most) ?? Number.NEGATIVE_INFINITY;
    return Math.max(nextTurnMs, counted + windowMs) - clock.elapsedMs();
  }

  /** How long until a request has waited too long, which a poll has if it is held for longer than it may wait. */
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

  /** Waits until a request may go or has waited too long; what ends, is written or comes meanwhile cuts that short. */
  async function waitForChange(): Promise<void> {
    const soonMs = [dueInMs(), heldMs(), nextCheckMs - clock.elapsedMs()].filter((ms) => ms > 0);
    isBlocked = !(dueInMs() > 0 && dueInMs() < Number.POSITIVE_INFINITY);
    alarm = new AbortController();
    const woke = await pause(Math.min(...soonMs), clock, alarm.signal);
    if (woke) for (const { onWake } of [...others, ...polls]) onWake?.();
  }

  /** Picks a request that is no poll, else the poll with the highest chance; of equals the one that came first. */
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
