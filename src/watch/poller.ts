import type { Ports } from '../ports.ts';
import { faultAfterReload } from '../run/api-key-reload.ts';
import { type Fault, isOverload } from '../run/fault.ts';
import type { LastConfirmed, WatchEnd } from '../run/outcome.ts';
import type { Run } from '../run/run.ts';
import type { Answer, RequestOptions, RunResource } from '../run/service.ts';
import { endpoints } from '../service/endpoints.ts';
import { withPermit } from '../service/rate-limiter.ts';
import { minAttemptTimeoutMs } from '../service/retry.ts';
import { machineSlept, stopwatch } from '../system/clock.ts';
import { PollPause } from './poll-pause.ts';
import { cappedRetryAfterMs, createPollRetryPolicy, type PollRetry } from './poll-retry-policy.ts';

interface PollerOptions {
  run: Run;
  resource: RunResource;
  sinceTriggerMs?(): number;
  lastConfirmed(): LastConfirmed | undefined;
  /** No further poll can change this fault. */
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

/** A poll that was sent. */
interface SentPoll<T> {
  answer: Answer<T>;
  /** The timeout had expired, and this was the one poll that is made after it. */
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
  readonly #pollTimeLeftMs: () => number;
  readonly #pause: PollPause;
  /** No poll is made any more. */
  #isStopped = false;
  /** The fault of the last request of this call of `poll`, and when it came. */
  #lastFault: Fault | undefined;
  #failedAtMs = 0;
  /** There is a new API key, and there was no valid response since. */
  #hasNewApiKey = false;

  constructor(options: PollerOptions, ports: Ports) {
    this.#options = options;
    this.#ports = ports;
    this.#retryPolicy = createPollRetryPolicy(ports, options.sinceTriggerMs);
    this.#pollTimeLeftMs = ports.session[timeForPolls[options.resource]];
    this.#pause = new PollPause(options, this.#pollTimeLeftMs, ports);
  }

  /**
   * Waits until `ms` or the timeout has passed or the machine wakes up, but at least as long as
   * `Retry-After` asks.
   */
  wait(ms: number, retryAfterMs = 0): Promise<void> | undefined {
    if (this.#limitReached()) return undefined;
    const cappedMs = cappedRetryAfterMs(retryAfterMs);
    // The service wants no poll before the timeout.
    if (cappedMs > this.#pollTimeLeftMs()) this.#stopPolling();
    this.#pause.noteRetryAfter(cappedMs);
    return this.#pause.pauseFor(Math.max(ms, cappedMs), cappedMs);
  }

  async poll<T>(request: Request<T>): Promise<PollResult<T>> {
    const { signal } = this.#ports;
    this.#lastFault = undefined;
    for (;;) {
      const end = this.#limitReached();
      if (end) return end;
      const sent = await this.#send(request);
      if (!sent) {
        await this.#waitWithoutPermit();
        if (signal.aborted) return this.#interrupted();
        continue;
      }
      if (sent.answer.kind === 'ok') return this.#accept(sent.answer, sent.isLast);
      const fault = await this.#faultUnlessApiKeyChanged(sent.answer.fault);
      if (signal.aborted) return this.#interrupted();
      // There is another API key, so the next poll is due at once.
      if (!fault) continue;
      const next = this.#nextAfter(fault, sent);
      if (next.kind !== 'retry') return next;
      await this.#waitToRetry(next);
    }
  }

  /**
   * The limit that ends this watch, if it has been reached. It is asked before each poll and before
   * the wait for the next one, so a further limit belongs here. A wait that uses up the rest of the
   * time calls `#stopPolling`, and silence is for the retry policy.
   */
  #limitReached(): WatchEnd | undefined {
    const isOver = this.#isStopped || this.#ports.session.leftForLastPollMs() <= 0;
    return isOver ? this.#timedOut() : undefined;
  }

  /** From now on no poll is made, even if the machine sleeps, which would add time. */
  #stopPolling(): void {
    this.#isStopped = true;
  }

  /** Sends one poll. Returns undefined if it got no permit in time. */
  #send<T>(request: Request<T>): Promise<SentPoll<T> | undefined> {
    const { limiter, signal, session } = this.#ports;
    const { priority } = endpoints[this.#options.resource];
    const permit = {
      priority,
      signal,
      leftMs: session.leftForLastPollMs,
      onWake: session.noteWake,
    };
    return withPermit(limiter, permit, () => this.#attempt(request));
  }

  /** The remaining time is for other runs, or the service asked for no poll until then. */
  async #waitWithoutPermit(): Promise<void> {
    await this.#pause.pauseFor(this.#pollTimeLeftMs(), this.#pollTimeLeftMs());
    if (this.#pollTimeLeftMs() <= 0) this.#stopPolling();
  }

  #interrupted(): WatchEnd {
    return { kind: 'interrupted', retryAfterUntilMs: this.#pause.retryAfterUntilMs };
  }

  async #attempt<T>(request: Request<T>): Promise<SentPoll<T>> {
    const { clock, session, requestTimeoutMs } = this.#ports;
    const isLast = this.#pollTimeLeftMs() <= 0;
    const restMs = isLast ? session.leftForLastPollMs() : this.#pollTimeLeftMs();
    const silenceLeftMs = Math.max(minAttemptTimeoutMs, this.#retryPolicy.silenceLeftMs());
    const timeoutMs = Math.min(requestTimeoutMs, restMs, silenceLeftMs);
    this.#pause.noteRetryAfter(0);
    const elapsedMs = stopwatch(clock);
    const answer = await request({ timeoutMs });
    const hasSlept = machineSlept(elapsedMs(), timeoutMs);
    if (hasSlept) session.noteWake();
    return { answer, isLast, tookMs: hasSlept ? 0 : Math.min(timeoutMs, elapsedMs()) };
  }

  #accept<T>(answer: Extract<Answer<T>, { kind: 'ok' }>, isLast: boolean): PollResult<T> {
    const afterMs = this.#retryPolicy.endOutage();
    this.#hasNewApiKey = false;
    if (isLast) this.#stopPolling();
    const { run } = this.#options;
    if (afterMs !== undefined) this.#ports.emit({ event: 'service_back', run, afterMs });
    return answer;
  }

  /**
   * Reads a refused API key again. Returns undefined if there is another one, so that the next poll
   * is due at once.
   */
  async #faultUnlessApiKeyChanged(fault: Fault): Promise<Fault | undefined> {
    const { reloadApiKey, signal } = this.#ports;
    if (fault.kind !== 'unauthorized' || signal.aborted) return fault;
    const reload = await reloadApiKey(fault);
    if (reload.kind === 'changed') {
      // Of several API keys in a row, only the first begins a new period of refusal, because a
      // command may print another one each time.
      if (!this.#hasNewApiKey) this.#retryPolicy.restartRefusalPeriod();
      this.#hasNewApiKey = true;
      return undefined;
    }
    const refusal = faultAfterReload(fault, reload);
    return reload.kind === 'unreadable' ? { ...refusal, kind: 'unconfirmed_refusal' } : refusal;
  }

  /** What follows a failed poll: another one, or the end of the watch. */
  #nextAfter<T>(fault: Fault, { isLast, tookMs }: SentPoll<T>): PollRetry | WatchEnd {
    this.#failedAtMs = this.#ports.clock.elapsedMs();
    this.#lastFault = fault;
    if (this.#options.isPermanent?.(fault)) return { kind: 'cannot_poll', fault };
    const next = this.#retryPolicy.decideAfter(fault, tookMs);
    if (next.kind === 'cannot_poll') return next;
    if (isLast && this.#pollTimeLeftMs() <= 0) {
      // A poll that the timeout cut short says nothing about the service.
      if (fault.httpStatus === undefined) this.#lastFault = undefined;
      return this.#timedOut();
    }
    if (next.kind === 'gave_up') return next;
    return this.#limitReached() ?? next;
  }

  async #waitToRetry({ retryAfterMs, failed }: PollRetry): Promise<void> {
    const { limiter, emit } = this.#ports;
    const { run, resource, lastConfirmed } = this.#options;
    const { fault, retryInMs } = failed;
    if (isOverload(fault)) limiter.pausePolls(retryAfterMs);
    if (this.#pollTimeLeftMs() > 0)
      emit({
        event: 'attempt_failed',
        resource,
        run,
        lastConfirmed: lastConfirmed(),
        ...failed,
      });
    this.#pause.noteRetryAfter(retryAfterMs);
    await this.#pause.pauseFor(retryInMs, retryAfterMs);
    // The wait that the service asked for has used up the time.
    if (retryAfterMs > 0 && this.#pollTimeLeftMs() <= 0) this.#stopPolling();
  }

  #timedOut(): WatchEnd {
    const timedOut = this.#ports.session.timeout();
    const fault = this.#lastFault;
    if (!fault) return timedOut;
    // Part of what `Retry-After` asked for has passed.
    const passedMs = this.#ports.clock.elapsedMs() - this.#failedAtMs;
    const retryAfterMs = Math.max(0, (fault.retryAfterMs ?? 0) - passedMs) || undefined;
    return { ...timedOut, fault: { ...fault, retryAfterMs } };
  }
}
