import { type Clock, onAbort, pause } from '../system/clock.ts';

export type RateLimiter = ReturnType<typeof createRateLimiter>;

/** In the order in which they are served. A trigger has a connection of its own, the others share theirs. */
const lanes = ['trigger', 'result', 'poll'] as const;
export type Lane = (typeof lanes)[number];

interface LimiterOptions {
  connections?: number; // shared by results and polls
}

/** A request that asks for a turn. */
interface TurnRequest {
  lane: Lane;
  signal: AbortSignal;
  leftMs?(): number; // how much longer it may wait; forever if undefined
  onWake?(): void; // the machine slept while it waited
}

interface Waiting extends TurnRequest {
  end(giveBack?: () => void): void;
}

/** More triggers at once would only wait for each other. */
const mostTriggers = 64;
// Requests arrive less evenly than they are sent, so a second counts as 5% longer.
const margin = 1.05;
/** How many turns missed by a busy process it can make up for. */
const busyMs = 100;
const longestPauseMs = 1000;
// The reason for cutting a pause short. An abort without a reason creates an error with a stack.
const early = 'early';

/**
 * Gives at most `perSecond` turns (may be a fraction) in any second, evenly, first come first served within a lane, and
 * no more at once than there are connections.
 */
export function createRateLimiter(perSecond: number, clock: Clock, options: LimiterOptions = {}) {
  const { connections = Number.POSITIVE_INFINITY } = options;
  const most = Math.max(1, Math.floor(perSecond));
  const windowMs = margin * Math.max(1000, 1000 / perSecond);
  const betweenMs = margin * (1000 / perSecond);
  const givenMs: number[] = []; // when the last `most` turns were given
  let nextTurnMs = Number.NEGATIVE_INFINITY;
  let heldUntilMs = Number.NEGATIVE_INFINITY; // results and polls
  const taken = { trigger: 0, shared: 0 };
  const queues = { trigger: new Set<Waiting>(), result: new Set<Waiting>(), poll: new Set<Waiting>() };
  let nextCheckMs = Number.NEGATIVE_INFINITY; // whether one of thousands has waited too long
  let isServing = false;
  let alarm = new AbortController();

  return {
    /**
     * Resolves when the turn has come, to the function that gives it back after the request. Undefined if the time of the
     * request passes first or its signal aborts.
     */
    turn(request: TurnRequest): Promise<(() => void) | undefined> {
      const { lane, signal } = request;
      if (signal.aborted) return Promise.resolve(undefined);
      if (waitingCount() === 0 && dueInMs() <= 0 && isFree(lane)) return Promise.resolve(take(lane));
      return new Promise((resolve) => {
        const waiting: Waiting = {
          ...request,
          end(giveBack) {
            stopListening();
            queues[lane].delete(waiting);
            if (waitingCount() === 0) alarm.abort(early);
            resolve(giveBack);
          },
        };
        const stopListening = onAbort(signal, () => waiting.end());
        queues[lane].add(waiting);
        const lateMs = clock.elapsedMs() + lateInMs(waiting);
        const isSooner = lateMs < nextCheckMs;
        if (isSooner) nextCheckMs = lateMs;
        if (!isServing) void serve();
        else if (isSooner || dueInMs() <= 0) alarm.abort(early);
      });
    },
    /** Gives results and polls no turn for this long. */
    pausePolls(ms: number) {
      heldUntilMs = Math.max(heldUntilMs, clock.elapsedMs() + ms);
      nextCheckMs = clock.elapsedMs();
    },
  };

  function take(lane: Lane): () => void {
    const pool = lane === 'trigger' ? 'trigger' : 'shared';
    taken[pool] += 1;
    givenMs.push(clock.elapsedMs());
    if (givenMs.length > most) givenMs.shift();
    // One turn may be reserved, because a result is requested as soon as its run is final.
    nextTurnMs = Math.max(nextTurnMs, clock.elapsedMs() - Math.max(betweenMs, busyMs)) + betweenMs;
    return () => {
      taken[pool] -= 1;
      if (dueInMs() <= 0) alarm.abort(early);
    };
  }

  function waitingCount(): number {
    return queues.trigger.size + queues.result.size + queues.poll.size;
  }

  function isFree(lane: Lane): boolean {
    return lane === 'trigger' ? taken.trigger < mostTriggers : taken.shared < connections && heldMs() <= 0;
  }

  function heldMs(): number {
    return Math.max(0, heldUntilMs - clock.elapsedMs());
  }

  /** How long until the rate allows another request. */
  function dueInMs(): number {
    const first = givenMs.length < most ? Number.NEGATIVE_INFINITY : (givenMs[0] ?? 0);
    return Math.max(nextTurnMs, first + windowMs) - clock.elapsedMs();
  }

  /** How long until a request has waited too long. That is now for one that is held longer than it may wait. */
  function lateInMs({ lane, leftMs }: TurnRequest): number {
    return leftMs ? leftMs() - (lane === 'trigger' ? 0 : heldMs()) : Number.POSITIVE_INFINITY;
  }

  async function serve(): Promise<void> {
    isServing = true;
    while (waitingCount() > 0) {
      if (clock.elapsedMs() >= nextCheckMs) endLate();
      const next = dueInMs() <= 0 ? firstInLine() : undefined;
      if (next) next.end(take(next.lane));
      else if (waitingCount() > 0) await waitForChange();
    }
    isServing = false;
  }

  function firstInLine(): Waiting | undefined {
    const lane = lanes.find((each) => queues[each].size > 0 && isFree(each));
    return lane && queues[lane].values().next().value;
  }

  function endLate(): void {
    let soonestMs = longestPauseMs;
    for (const waiting of allWaiting()) {
      const lateMs = lateInMs(waiting);
      if (lateMs <= 0) waiting.end();
      else soonestMs = Math.min(soonestMs, lateMs);
    }
    nextCheckMs = clock.elapsedMs() + soonestMs;
  }

  /** Waits until a request may go or has waited too long. Cut short if that may have changed. */
  async function waitForChange(): Promise<void> {
    const soonMs = [dueInMs(), heldMs(), nextCheckMs - clock.elapsedMs()].filter((ms) => ms > 0);
    alarm = new AbortController();
    const woke = await pause(Math.min(...soonMs), clock, alarm.signal);
    if (woke) for (const { onWake } of allWaiting()) onWake?.();
  }

  function allWaiting(): Waiting[] {
    return lanes.flatMap((lane) => [...queues[lane]]);
  }
}

/** Makes the request when its turn comes. Undefined if its time passes first or its signal aborts. */
export async function inTurn<T>(
  limiter: RateLimiter,
  request: TurnRequest,
  send: () => Promise<T>,
): Promise<T | undefined> {
  const giveBack = await limiter.turn(request);
  if (!giveBack) return undefined;
  try {
    return await send();
  } finally {
    giveBack();
  }
}
