import { type Clock, onAbort, pause } from '../system/clock.ts';

export interface RateLimiter {
  /**
   * Resolves when a permit is free, to the function that releases it after the request. Undefined
   * if the time of the request passes first or its signal aborts.
   */
  acquire(request: PermitRequest): Promise<(() => void) | undefined>;
  /** Gives results and polls no permit for this long. */
  pausePolls(ms: number): void;
}

/**
 * In the order in which they are served. A trigger has a connection of its own, the others share
 * theirs.
 */
const priorities = ['trigger', 'result', 'poll'] as const;
export type Priority = (typeof priorities)[number];

interface LimiterOptions {
  /** Shared by results and polls. */
  connections?: number;
}

/** A request that waits for a permit. */
interface PermitRequest {
  priority: Priority;
  signal: AbortSignal;
  /** How much longer it may wait; forever if undefined. */
  leftMs?(): number;
  /** The machine slept while it waited. */
  onWake?(): void;
}

interface Waiting extends PermitRequest {
  end(release?: () => void): void;
}

/** More triggers at once would only wait for each other. */
const maxTriggers = 64;
// Requests arrive less evenly than they are sent, so a second counts as 5% longer.
const margin = 1.05;
/** If the process was busy, the permits of this much time are given at once. */
const maxCatchUpMs = 100;
const maxPauseMs = 1000;
// The reason for cutting a pause short. An abort without a reason creates an error with a stack.
const wokenEarly = 'woken early';

/**
 * Gives at most `perSecond` permits (may be a fraction) in any second, evenly, first come first
 * served within a priority, and no more at once than there are connections.
 */
export const createRateLimiter = (
  perSecond: number,
  clock: Clock,
  options: LimiterOptions = {},
): RateLimiter => new PriorityRateLimiter(perSecond, clock, options);

class PriorityRateLimiter implements RateLimiter {
  readonly #clock: Clock;
  readonly #connections: number;
  readonly #maxPermits: number; // permits in a window
  readonly #windowMs: number;
  readonly #betweenMs: number;
  readonly #givenMs: number[] = []; // when the last `#maxPermits` permits were given
  #nextPermitMs = Number.NEGATIVE_INFINITY;
  #pausedUntilMs = Number.NEGATIVE_INFINITY; // results and polls
  readonly #taken = { trigger: 0, shared: 0 };
  readonly #queues = {
    trigger: new Set<Waiting>(),
    result: new Set<Waiting>(),
    poll: new Set<Waiting>(),
  };
  #nextCheckMs = Number.NEGATIVE_INFINITY; // when to look for requests that have waited too long
  #isServing = false;
  #wakeUp = new AbortController();

  constructor(
    perSecond: number,
    clock: Clock,
    { connections = Number.POSITIVE_INFINITY }: LimiterOptions,
  ) {
    this.#clock = clock;
    this.#connections = connections;
    this.#maxPermits = Math.max(1, Math.floor(perSecond));
    this.#windowMs = margin * Math.max(1000, 1000 / perSecond);
    this.#betweenMs = margin * (1000 / perSecond);
  }

  acquire(request: PermitRequest): Promise<(() => void) | undefined> {
    const { priority, signal } = request;
    if (signal.aborted) return Promise.resolve(undefined);
    if (this.#waitingCount() === 0 && this.#nextPermitInMs() <= 0 && this.#isFree(priority))
      return Promise.resolve(this.#take(priority));
    return new Promise((resolve) => this.#queue(request, resolve));
  }

  pausePolls(ms: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.#clock.elapsedMs() + ms);
    this.#nextCheckMs = this.#clock.elapsedMs();
  }

  #queue(request: PermitRequest, resolve: (release?: () => void) => void): void {
    const queue = this.#queues[request.priority];
    const waiting: Waiting = {
      ...request,
      end: (release) => {
        stopListening();
        queue.delete(waiting);
        if (this.#waitingCount() === 0) this.#wakeUp.abort(wokenEarly);
        resolve(release);
      },
    };
    const stopListening = onAbort(request.signal, () => waiting.end());
    queue.add(waiting);
    const expiresMs = this.#clock.elapsedMs() + this.#expiresInMs(waiting);
    const isSooner = expiresMs < this.#nextCheckMs;
    if (isSooner) this.#nextCheckMs = expiresMs;
    if (!this.#isServing) void this.#serve();
    else if (isSooner || this.#nextPermitInMs() <= 0) this.#wakeUp.abort(wokenEarly);
  }

  #take(priority: Priority): () => void {
    const pool = priority === 'trigger' ? 'trigger' : 'shared';
    const nowMs = this.#clock.elapsedMs();
    this.#taken[pool] += 1;
    this.#givenMs.push(nowMs);
    if (this.#givenMs.length > this.#maxPermits) this.#givenMs.shift();
    // Permits that nobody took are kept for this long. One is always kept, because a result is
    // requested as soon as its run is final.
    const keptMs = Math.max(this.#betweenMs, maxCatchUpMs);
    this.#nextPermitMs = Math.max(this.#nextPermitMs, nowMs - keptMs) + this.#betweenMs;
    return () => {
      this.#taken[pool] -= 1;
      if (this.#nextPermitInMs() <= 0) this.#wakeUp.abort(wokenEarly);
    };
  }

  #waitingCount(): number {
    return this.#queues.trigger.size + this.#queues.result.size + this.#queues.poll.size;
  }

  #isFree(priority: Priority): boolean {
    if (priority === 'trigger') return this.#taken.trigger < maxTriggers;
    return this.#taken.shared < this.#connections && this.#pausedMs() <= 0;
  }

  #pausedMs(): number {
    return Math.max(0, this.#pausedUntilMs - this.#clock.elapsedMs());
  }

  /** How long until the rate allows another request. */
  #nextPermitInMs(): number {
    const first =
      this.#givenMs.length < this.#maxPermits ? Number.NEGATIVE_INFINITY : (this.#givenMs[0] ?? 0);
    return Math.max(this.#nextPermitMs, first + this.#windowMs) - this.#clock.elapsedMs();
  }

  /**
   * How long until a request has waited too long. That is now if polls are paused for longer than
   * it may wait.
   */
  #expiresInMs({ priority, leftMs }: PermitRequest): number {
    return leftMs
      ? leftMs() - (priority === 'trigger' ? 0 : this.#pausedMs())
      : Number.POSITIVE_INFINITY;
  }

  async #serve(): Promise<void> {
    this.#isServing = true;
    while (this.#waitingCount() > 0) {
      if (this.#clock.elapsedMs() >= this.#nextCheckMs) this.#endExpired();
      const next = this.#nextPermitInMs() <= 0 ? this.#firstInLine() : undefined;
      if (next) next.end(this.#take(next.priority));
      else if (this.#waitingCount() > 0) await this.#waitForChange();
    }
    this.#isServing = false;
  }

  #firstInLine(): Waiting | undefined {
    const priority = priorities.find((each) => this.#queues[each].size > 0 && this.#isFree(each));
    return priority && this.#queues[priority].values().next().value;
  }

  #endExpired(): void {
    let soonestMs = maxPauseMs;
    for (const waiting of this.#allWaiting()) {
      const expiresMs = this.#expiresInMs(waiting);
      if (expiresMs <= 0) waiting.end();
      else soonestMs = Math.min(soonestMs, expiresMs);
    }
    this.#nextCheckMs = this.#clock.elapsedMs() + soonestMs;
  }

  /** Waits until a request may go or has waited too long. Cut short if that may have changed. */
  async #waitForChange(): Promise<void> {
    const times = [
      this.#nextPermitInMs(),
      this.#pausedMs(),
      this.#nextCheckMs - this.#clock.elapsedMs(),
    ];
    this.#wakeUp = new AbortController();
    const woke = await pause(
      Math.min(...times.filter((ms) => ms > 0)),
      this.#clock,
      this.#wakeUp.signal,
    );
    if (woke) for (const { onWake } of this.#allWaiting()) onWake?.();
  }

  #allWaiting(): Waiting[] {
    return priorities.flatMap((priority) => [...this.#queues[priority]]);
  }
}

/**
 * Makes the request when it gets a permit. Undefined if its time passes first or its signal aborts.
 */
export async function withPermit<T>(
  limiter: RateLimiter,
  request: PermitRequest,
  send: () => Promise<T>,
): Promise<T | undefined> {
  const release = await limiter.acquire(request);
  if (!release) return undefined;
  try {
    return await send();
  } finally {
    release();
  }
}
