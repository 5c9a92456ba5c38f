import { faultAfterReload } from '../run/api-key-reload.ts';
import type { Fault } from '../run/fault.ts';
import { heartbeatMs } from '../run/limits.ts';
import type { LastConfirmed, WatchEnd } from '../run/outcome.ts';
import type { Run } from '../run/run.ts';
import type { Answer, RequestOptions, RunResource } from '../run/service.ts';
import { endpoints } from '../service/endpoints.ts';
import { withPermit } from '../service/rate-limiter.ts';
import { minLimitMs } from '../service/retry.ts';
import { pause, stopwatch, suspendedMs } from '../system/clock.ts';
import { cappedRetryAfterMs, createPollRetryPolicy } from './poll-retry-policy.ts';
import type { Ports } from './ports.ts';

interface PollerOptions {
  run: Run;
  resource: RunResource;
  sinceTriggerMs?(): number;
  /** The last status that is known. */
  lastConfirmed(): LastConfirmed | undefined;
  /** No further poll can change it. */
  isPermanent?(fault: Fault): boolean;
}

/**
 * The time in which a poll may begin. A result may also be read in the time that is kept for the
 * last polls after the timeout.
 */
const timeForPolls: Record<RunResource, 'leftMs' | 'leftForLastPollMs'> = {
  status: 'leftMs',
  result: 'leftForLastPollMs',
};

type Request<T> = (options: RequestOptions) => Promise<Answer<T>>;

type PollResult<T> = { kind: 'ok'; value: T; retryAfterMs?: number } | WatchEnd;

interface Sent<T> {
  answer: Answer<T>;
  /** The timeout had passed, and this was the poll that is made after it. */
  isLast: boolean;
  tookMs: number;
}

/**
 * Polls one run for its status or its result, through outages, until there is a valid response or a
 * reason to stop.
 */
export class Poller {
  readonly #options: PollerOptions;
  readonly #ports: Ports;
  readonly #retryPolicy: ReturnType<typeof createPollRetryPolicy>;
  readonly #leftMs: () => number;
  /** When the wait requested by the service ends, by the wall clock. */
  #askedUntilMs: number | undefined;
  #isTimeUp = false; // set by `#endTime`
  #lastFault: Fault | undefined; // of this call of `poll`
  #isRenewed = false;
  #failedAtMs = 0;

  constructor(options: PollerOptions, ports: Ports) {
    const { session } = ports;
    this.#options = options;
    this.#ports = ports;
    this.#retryPolicy = createPollRetryPolicy(ports, options.sinceTriggerMs);
    this.#leftMs = session[timeForPolls[options.resource]];
  }

  /**
   * Waits until `ms` or the timeout has passed or the machine wakes up, but at least as long as
   * `Retry-After` asks.
   */
  wait(ms: number, retryAfterMs = 0): Promise<void> | undefined {
    if (this.#limitReached()) return undefined;
    const minMs = cappedRetryAfterMs(retryAfterMs);
    // The service wants no poll before the timeout.
    if (minMs > this.#leftMs()) this.#endTime();
    this.#noteWait(minMs);
    return this.#pauseFor(Math.max(ms, minMs), minMs);
  }

  async poll<T>(request: Request<T>): Promise<PollResult<T>> {
    const { signal } = this.#ports;
    this.#lastFault = undefined;
    for (;;) {
      const end = this.#limitReached();
      if (end) return end;
      const sent = await this.#send(request);
      if (sent?.answer.kind === 'ok') return this.#accept(sent.answer, sent.isLast);
      const fault =
        sent && !signal.aborted ? await this.#afterReadingApiKey(sent.answer.fault) : undefined;
      if (signal.aborted) return { kind: 'signal', askedUntilMs: this.#askedUntilMs };
      if (!sent || !fault) continue;
      const failure = await this.#endOrWait(fault, sent);
      if (failure) return failure;
    }
  }

  /**
   * The limit that ends this watch, if it has been reached. It is asked before each poll and before
   * the wait for the next one. Another limit is checked here, and nowhere else.
   */
  #limitReached(): WatchEnd | undefined {
    const isTimeUp = this.#isTimeUp || this.#ports.session.leftForLastPollMs() <= 0;
    return isTimeUp ? this.#timedOut(this.#lastFault) : undefined;
  }

  /** From now on no poll is made, even if the machine sleeps, which would add time. */
  #endTime(): void {
    this.#isTimeUp = true;
  }

  /** Sends one poll. Returns undefined if it got no permit in time. */
  async #send<T>(request: Request<T>): Promise<Sent<T> | undefined> {
    const { limiter, signal, session } = this.#ports;
    const { priority } = endpoints[this.#options.resource];
    const permit = { priority, signal, leftMs: session.leftForLastPollMs, onWake: session.woke };
    const sent = await withPermit(limiter, permit, () => this.#attempt(request));
    if (sent) return sent;
    // The remaining time is for other runs, or the service asked for no poll until then.
    await this.#pauseFor(this.#leftMs(), this.#leftMs());
    if (this.#leftMs() <= 0) this.#endTime();
    return undefined;
  }

  async #attempt<T>(request: Request<T>): Promise<Sent<T>> {
    const { clock, session, requestTimeoutMs } = this.#ports;
    const isLast = this.#leftMs() <= 0;
    const restMs = isLast ? session.leftForLastPollMs() : this.#leftMs();
    const timeoutMs = Math.min(
      requestTimeoutMs,
      restMs,
      Math.max(minLimitMs, this.#retryPolicy.leftMs()),
    );
    this.#noteWait(0);
    const elapsedMs = stopwatch(clock);
    const answer = await request({ timeoutMs });
    const hasSlept = elapsedMs() > timeoutMs + suspendedMs;
    if (hasSlept) session.woke();
    return { answer, isLast, tookMs: hasSlept ? 0 : Math.min(timeoutMs, elapsedMs()) };
  }

  #accept<T>(answer: Extract<Answer<T>, { kind: 'ok' }>, isLast: boolean): PollResult<T> {
    const afterMs = this.#retryPolicy.succeeded();
    this.#isRenewed = false;
    if (isLast) this.#endTime();
    const { run } = this.#options;
    if (afterMs !== undefined) this.#ports.emit({ event: 'service_back', run, afterMs });
    return answer;
  }

  /**
   * Reads a refused API key again. Returns undefined if there is another one, so that the next poll
   * is due at once.
   */
  async #afterReadingApiKey(fault: Fault): Promise<Fault | undefined> {
    if (fault.kind !== 'unauthorized') return fault;
    const reload = await this.#ports.reloadApiKey(fault);
    if (reload.kind === 'changed') {
      // Of several API keys in a row, only the first gets the time of a refusal anew: a command may
      // print one each time.
      if (!this.#isRenewed) this.#retryPolicy.renewed();
      this.#isRenewed = true;
      return undefined;
    }
    const refusal = faultAfterReload(fault, reload);
    return reload.kind === 'unreadable' ? { ...refusal, kind: 'unconfirmed_refusal' } : refusal;
  }

  /** Returns why the watch ends with this failure, or waits until the next poll is due. */
  async #endOrWait<T>(fault: Fault, { isLast, tookMs }: Sent<T>): Promise<WatchEnd | undefined> {
    const { clock, limiter, giveUpAfterMs, emit } = this.#ports;
    const { run, resource, lastConfirmed, isPermanent } = this.#options;
    this.#failedAtMs = clock.elapsedMs();
    this.#lastFault = fault;
    if (isPermanent?.(fault)) return { kind: 'polls_refused', fault };
    const decision = this.#retryPolicy.failed(fault, tookMs);
    if (decision.kind === 'stop') return { kind: 'polls_refused', fault };
    if (isLast && this.#leftMs() <= 0) {
      this.#endTime();
      // A poll that the timeout cut short says nothing about the service.
      if (fault.httpStatus === undefined) this.#lastFault = undefined;
      return this.#limitReached();
    }
    if (decision.kind === 'gave_up') return { kind: 'gave_up', giveUpAfterMs, fault };
    const end = this.#limitReached();
    if (end) return end;
    const { kind: _, minMs, ...failed } = decision;
    if (fault.kind === 'throttled' || fault.httpStatus === 503) limiter.pausePolls(minMs);
    if (this.#leftMs() > 0)
      emit({ event: 'attempt_failed', resource, run, lastConfirmed: lastConfirmed(), ...failed });
    this.#noteWait(minMs);
    await this.#pauseFor(failed.retryInMs, minMs);
    if (minMs > 0 && this.#leftMs() <= 0) this.#endTime();
    return undefined;
  }

  #timedOut(fault?: Fault): WatchEnd {
    const { clock, session } = this.#ports;
    // Part of what `Retry-After` asked for has passed.
    const passedMs = clock.elapsedMs() - this.#failedAtMs;
    const retryAfterMs = Math.max(0, (fault?.retryAfterMs ?? 0) - passedMs) || undefined;
    return { ...session.timedOut(), fault: fault && { ...fault, retryAfterMs } };
  }

  #noteWait(minMs: number): void {
    this.#askedUntilMs =
      minMs > 0 ? this.#ports.clock.nowMs() + Math.min(minMs, this.#leftMs()) : undefined;
  }

  /** Not async, because each of thousands of waiting runs would keep one more frame in memory. */
  #pauseFor(ms: number, minMs: number): Promise<void> | undefined {
    const atMs = this.#ports.clock.elapsedMs() + Math.min(ms, this.#leftMs());
    return this.#pauseUntil(atMs, Math.min(minMs, this.#leftMs()));
  }

  #pauseUntil(atMs: number, minMs: number): Promise<void> | undefined {
    const { clock, signal, session, emit } = this.#ports;
    const nextMs = atMs - clock.elapsedMs();
    if (nextMs <= 0 || signal.aborted) return undefined;
    const { run, lastConfirmed } = this.#options;
    emit({
      event: 'waiting',
      for: 'poll',
      run,
      lastConfirmed: lastConfirmed(),
      nextMs,
      askedUntilMs: this.#askedUntilMs,
    });
    const isWhole = nextMs <= heartbeatMs || minMs > 0;
    return pause(isWhole ? nextMs : heartbeatMs, clock, signal, minMs).then((woke) => {
      if (woke) session.woke();
      return woke ? undefined : this.#pauseUntil(atMs, minMs);
    });
  }
}
