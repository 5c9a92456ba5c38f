import type { Fault } from '../run/fault.ts';
import { signOfLifeMs } from '../run/limits.ts';
import type { LastConfirmed, RunResource, WatchEnd } from '../run/outcome.ts';
import { refusalAfter } from '../run/renewal.ts';
import type { Run } from '../run/run.ts';
import type { Answer, RequestOptions } from '../run/service.ts';
import { withPermit } from '../service/rate-limiter.ts';
import { leastLimitMs } from '../service/retry.ts';
import { pause, stopwatch, suspendedMs } from '../system/clock.ts';
import { priorityOf } from './fetch-run.ts';
import { cappedRetryAfterMs, createPollRetryPolicy } from './poll-retry-policy.ts';
import type { Ports } from './ports.ts';

interface PollerOptions {
  run: Run;
  resource: RunResource; // a result may also be read in the time for the last polls
  sinceTriggerMs?(): number;
  lastConfirmed(): LastConfirmed | undefined; // the last status that is known
  isPermanent?(fault: Fault): boolean; // no further poll can change it
}

type Request<T> = (sending: RequestOptions) => Promise<Answer<T>>;

/** With `isLast`, the timeout has passed and no further poll follows. */
type Polled<T> = { kind: 'ok'; value: T; retryAfterMs?: number; isLast: boolean } | WatchEnd;

/** Polls one run for its status or its result, through outages, until there is a valid response or a reason to stop. */
export class Poller {
  readonly #options: PollerOptions;
  readonly #ports: Ports;
  readonly #tolerance: ReturnType<typeof createPollRetryPolicy>;
  readonly #leftMs: () => number;
  #askedUntilMs: number | undefined; // when the wait requested by the service ends, by the wall clock
  #isAskedBeyondTimeout = false; // the service wants no poll before the timeout
  #isRenewed = false;
  #failedAtMs = 0;

  constructor(options: PollerOptions, ports: Ports) {
    const { session } = ports;
    this.#options = options;
    this.#ports = ports;
    this.#tolerance = createPollRetryPolicy(ports, options.sinceTriggerMs);
    this.#leftMs = options.resource === 'result' ? session.leftForLastPollMs : session.leftMs;
  }

  async poll<T>(request: Request<T>): Promise<Polled<T>> {
    const { limiter, signal, session } = this.#ports;
    const priority = priorityOf(this.#options.resource);
    const permit = { priority, signal, leftMs: session.leftForLastPollMs, onWake: session.woke };
    for (let lastFault: Fault | undefined; ; ) {
      if (session.leftForLastPollMs() <= 0 || this.#isAskedBeyondTimeout) return this.#timedOut(lastFault);
      const sent = await withPermit(limiter, permit, () => this.#attempt(request));
      // The remaining time is for other runs, or the service asked for no poll until then.
      if (!sent) await this.#pauseFor(this.#leftMs(), this.#leftMs());
      if (sent?.answer.kind === 'ok') return this.#accept(sent.answer, sent.isLast);
      if (signal.aborted) return { kind: 'signal', askedUntilMs: this.#askedUntilMs };
      if (sent) {
        const fault = await this.#afterReadingApiKey(sent.answer.fault);
        if (fault === undefined) continue;
        if (signal.aborted) return { kind: 'signal', askedUntilMs: this.#askedUntilMs };
        lastFault = fault;
        const end = await this.#endOrWait(fault, sent);
        if (end) return end;
      } else if (this.#leftMs() <= 0) return this.#timedOut(lastFault);
    }
  }

  async #attempt<T>(request: Request<T>) {
    const { clock, session, requestTimeoutMs } = this.#ports;
    const isLast = this.#leftMs() <= 0;
    const restMs = isLast ? session.leftForLastPollMs() : this.#leftMs();
    const timeoutMs = Math.min(requestTimeoutMs, restMs, Math.max(leastLimitMs, this.#tolerance.leftMs()));
    this.#noteWait(0);
    const elapsedMs = stopwatch(clock);
    const answer = await request({ timeoutMs });
    const hasSlept = elapsedMs() > timeoutMs + suspendedMs;
    if (hasSlept) session.woke();
    return { answer, isLast, tookMs: hasSlept ? 0 : Math.min(timeoutMs, elapsedMs()) };
  }

  #accept<T>(answer: Extract<Answer<T>, { kind: 'ok' }>, isLast: boolean): Polled<T> {
    const afterMs = this.#tolerance.succeeded();
    this.#isRenewed = false;
    const { run } = this.#options;
    if (afterMs !== undefined) this.#ports.observe({ event: 'service_back', run, afterMs });
    return { ...answer, isLast };
  }

  /** Reads a refused API key again. Returns undefined if there is another one, so that the next poll is due at once. */
  async #afterReadingApiKey(fault: Fault): Promise<Fault | undefined> {
    if (fault.kind !== 'unauthorized') return fault;
    const renewal = await this.#ports.renewApiKey(fault);
    if (renewal.kind === 'another') {
      // Of several API keys in a row, only the first gets the time of a refusal anew: a command may print one each time.
      if (!this.#isRenewed) this.#tolerance.renewed();
      this.#isRenewed = true;
      return undefined;
    }
    const refusal = refusalAfter(fault, renewal);
    return renewal.kind === 'unreadable' ? { ...refusal, kind: 'unconfirmed_refusal' } : refusal;
  }

  /** Returns why the watch ends with this failure, or waits until the next poll is due. */
  async #endOrWait(
    fault: Fault,
    { isLast, tookMs }: { isLast: boolean; tookMs: number },
  ): Promise<WatchEnd | undefined> {
    const { clock, limiter, giveUpAfterMs, observe } = this.#ports;
    const { run, resource, lastConfirmed, isPermanent } = this.#options;
    this.#failedAtMs = clock.elapsedMs();
    if (isPermanent?.(fault)) return { kind: 'polls_refused', fault };
    const verdict = this.#tolerance.failed(fault, tookMs);
    if (verdict.kind === 'stop') return { kind: 'polls_refused', fault };
    // A poll that the timeout cut short says nothing about the service.
    if (isLast && this.#leftMs() <= 0) return this.#timedOut(fault.httpStatus === undefined ? undefined : fault);
    if (verdict.kind === 'gave_up') return { kind: 'gave_up', giveUpAfterMs, fault };
    const { kind: _, leastMs, ...failed } = verdict;
    if (fault.kind === 'throttled' || fault.httpStatus === 503) limiter.pausePolls(leastMs);
    if (this.#leftMs() > 0)
      observe({ event: 'attempt_failed', resource, run, lastConfirmed: lastConfirmed(), ...failed });
    this.#noteWait(leastMs);
    await this.#pauseFor(failed.retryInMs, leastMs);
    return leastMs > 0 && this.#leftMs() <= 0 ? this.#timedOut(fault) : undefined;
  }

  #timedOut(fault?: Fault): WatchEnd {
    const { clock, session } = this.#ports;
    // Part of what `Retry-After` asked for has passed.
    const passedMs = clock.elapsedMs() - this.#failedAtMs;
    const retryAfterMs = Math.max(0, (fault?.retryAfterMs ?? 0) - passedMs) || undefined;
    return { ...session.timedOut(), fault: fault && { ...fault, retryAfterMs } };
  }

  /** Waits until `ms` or the timeout has passed or the machine wakes up, but at least as long as `Retry-After` asks. */
  wait(ms: number, retryAfterMs = 0): Promise<void> | undefined {
    const leastMs = cappedRetryAfterMs(retryAfterMs);
    this.#isAskedBeyondTimeout = leastMs > this.#leftMs();
    this.#noteWait(leastMs);
    return this.#pauseFor(Math.max(ms, leastMs), leastMs);
  }

  #noteWait(leastMs: number): void {
    this.#askedUntilMs = leastMs > 0 ? this.#ports.clock.nowMs() + Math.min(leastMs, this.#leftMs()) : undefined;
  }

  /** Not async, because each of thousands of waiting runs would keep one more frame in memory. */
  #pauseFor(ms: number, leastMs: number): Promise<void> | undefined {
    const atMs = this.#ports.clock.elapsedMs() + Math.min(ms, this.#leftMs());
    return this.#pauseUntil(atMs, Math.min(leastMs, this.#leftMs()));
  }

  #pauseUntil(atMs: number, leastMs: number): Promise<void> | undefined {
    const { clock, signal, session, observe } = this.#ports;
    const nextMs = atMs - clock.elapsedMs();
    if (nextMs <= 0 || signal.aborted) return undefined;
    const { run, lastConfirmed } = this.#options;
    observe({
      event: 'waiting',
      for: 'poll',
      run,
      lastConfirmed: lastConfirmed(),
      nextMs,
      askedUntilMs: this.#askedUntilMs,
    });
    const isWhole = nextMs <= signOfLifeMs || leastMs > 0;
    return pause(isWhole ? nextMs : signOfLifeMs, clock, signal, leastMs).then((woke) => {
      if (woke) session.woke();
      return woke ? undefined : this.#pauseUntil(atMs, leastMs);
    });
  }
}
