import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import { createTriggerRecord } from '../journal/trigger-record.ts';
import { formatDuration } from '../runs/duration.ts';
import {
  interruptedProblem,
  interruptedTriggerProblem,
  refusedTriggerProblem,
  slotTimeoutProblem,
  unknownTriggerProblem,
} from '../runs/fault-problem.ts';
import { createPace, jitter } from '../runs/pace.ts';
import { pause } from '../runs/pause.ts';
import { Problem } from '../runs/problem.ts';
import { isFinal, nameOf, type Run, type Target } from '../runs/run.ts';
import type { Execution, Fault } from '../runs/service.ts';
import { keyRetentionMs, triggerRun } from '../runs/trigger.ts';
import type { Connection } from './connect.ts';
import { timeoutMsOf } from './follow-run.ts';
import { lookAt } from './look.ts';

export type IfActive = 'fail' | 'skip' | 'wait' | 'attach';

export interface StartFlags {
  idempotencyKey?: string;
  ifActive?: IfActive;
  giveUpAfterMs?: number;
  /** Bounds `--if-active wait`. */
  timeoutMs?: number;
}

/** What came of a trigger that did not fail. */
export type Start =
  | { kind: 'started'; run: Run; execution: Execution }
  /** A run that was there before. `problem` tells why it could not be looked up. */
  | { kind: 'replayed' | 'attached'; run: Run; execution?: Execution; problem?: Problem }
  | { kind: 'skipped'; target: Target; activeId?: string };

const defaultGiveUpAfterMs = 30_000;

/** Starts one run of `target`, or does what `--if-active` says where one is running. Throws a `Problem`. */
export async function startRun(
  request: { target: Target; body: string },
  flags: StartFlags,
  connection: Connection,
  say: (line: string) => void,
  context: Context,
): Promise<Start> {
  const { target } = request;
  const { clock, random, signal } = context;
  const { ifActive = 'fail' } = flags;
  const timeoutMs = timeoutMsOf(flags);
  const startMs = clock.elapsedMs();
  let isWaiting = false;
  const pace = createPace({ durationsMs: [] });
  for (;;) {
    // A newly minted key for each try: a service may replay a stored refusal for an old one. A given key is kept.
    const idempotencyKey = flags.idempotencyKey ?? randomUUID();
    const start = await tryOnce(request, idempotencyKey, flags, connection, say, context);
    if (start.kind !== 'conflict') return start;

    const { fault } = start;
    const refused = refusedTriggerProblem(fault, target, idempotencyKey);
    if (ifActive === 'fail') throw refused;
    const activeId = fault.executionId ?? activeRunOf(target, connection);
    if (ifActive === 'skip') return { kind: 'skipped', target, activeId };
    if (ifActive === 'attach') {
      if (activeId === undefined) {
        throw refused.with({
          hint: 'nothing names the active run, so it cannot be attached to: try `--if-active wait`',
        });
      }
      return { kind: 'attached', ...(await lookUp({ target, executionId: activeId }, flags, connection, context)) };
    }
    const waitedMs = clock.elapsedMs() - startMs;
    if (waitedMs >= timeoutMs) throw slotTimeoutProblem(timeoutMs, target, idempotencyKey);
    if (!isWaiting) say(`${nameOf(target)} is already running: waiting for it to end`);
    isWaiting = true;
    await untilFree(activeId);
    if (signal.aborted) throw interruptedProblem(signal).with({ message: 'interrupted: no run was started' });
  }

  /** Waits for the next try: until the active run has ended where its id is known, else one gap of the pace. */
  async function untilFree(activeId: string | undefined): Promise<void> {
    for (;;) {
      const leftMs = startMs + timeoutMs - clock.elapsedMs();
      const gapMs = connection.tempo.stretch(jitter(pace.gapMs(clock.elapsedMs() - startMs), random));
      await pause(Math.max(0, Math.min(gapMs, leftMs)), clock, signal);
      if (activeId === undefined || signal.aborted || leftMs <= gapMs) return;
      await connection.budget.take(signal);
      const look = await connection.service.status({ target, executionId: activeId }, signal);
      const isOver = look.kind === 'good' ? isFinal(target, look.value.status) : !look.fault.transient;
      if (isOver) return;
    }
  }
}

async function tryOnce(
  { target, body }: { target: Target; body: string },
  idempotencyKey: string,
  flags: StartFlags,
  connection: Connection,
  say: (line: string) => void,
  context: Context,
): Promise<Exclude<Start, { kind: 'skipped' }> | { kind: 'conflict'; fault: Fault }> {
  const { baseUrl, journal, service, budget, settings } = connection;
  const { clock, random, signal } = context;
  const { account } = settings;
  const given = flags.idempotencyKey !== undefined;
  const earlier = given ? journal.findKey({ baseUrl, account, target, idempotencyKey }) : undefined;
  if (earlier?.state === 'accepted') {
    const run = { target, executionId: earlier.executionId };
    return { kind: 'replayed', ...(await lookUp(run, flags, connection, context)) };
  }
  // A key that was sent before goes with the bytes that it was sent with.
  const open = earlier?.state === 'open' ? earlier.intent : undefined;
  const bytes = open?.body ?? body;
  await budget.take(signal);
  connection.sentKeys.add(idempotencyKey);
  const triggering = triggerRun(
    { target, idempotencyKey, body: bytes },
    {
      service,
      record: createTriggerRecord(journal, { baseUrl, account, target, idempotencyKey, body: bytes, given }),
      clock,
      random,
      signal,
      giveUpAfterMs: flags.giveUpAfterMs ?? defaultGiveUpAfterMs,
      onRetry: (fault, delayMs) =>
        say(`${fault.message}; trying again with the same key in ${formatDuration(delayMs)}`),
    },
    open ? 'doubtful' : 'ready',
  );
  // Read while the service thinks, so that it costs nothing; and no further back than `recover` goes.
  const openIntents = journal.openIntents({ baseUrl, target, maxAgeMs: keyRetentionMs });
  if (openIntents.some((intent) => !connection.sentKeys.has(intent.idempotencyKey))) {
    say(`an earlier trigger of ${nameOf(target)} may or may not have started a run: settle it with \`runctl recover\``);
  }
  const outcome = await triggering;
  if (outcome.end === 'started') {
    const { execution } = outcome;
    return { kind: 'started', run: { target, executionId: execution.executionId }, execution };
  }
  const { end, fault } = outcome;
  const interrupted = signal.aborted && outcome.stopped;
  if (end === 'unknown') {
    const problem = interrupted
      ? interruptedTriggerProblem(signal, end, target, idempotencyKey)
      : unknownTriggerProblem(fault, target, idempotencyKey);
    const isOnRecord = journal.findKey({ baseUrl, account, target, idempotencyKey })?.state === 'open';
    // What is not in the journal, `recover` cannot settle.
    throw isOnRecord
      ? problem
      : problem.with({
          hint: `repeat it with \`--idempotency-key ${idempotencyKey}\`, which cannot start a second run`,
        });
  }
  if (interrupted) throw interruptedTriggerProblem(signal, end, target, idempotencyKey);
  if (fault.kind === 'already_active') return { kind: 'conflict', fault };
  throw refusedTriggerProblem(fault, target, idempotencyKey);
}

/** The id is known whatever the look-up says (contract §8). */
async function lookUp(run: Run, flags: StartFlags, connection: Connection, context: Context) {
  try {
    return { run, execution: await lookAt('status', { run }, flags, connection, context) };
  } catch (problem) {
    if (problem instanceof Problem) return { run, problem };
    throw problem;
  }
}

function activeRunOf(target: Target, { journal, baseUrl }: Connection): string | undefined {
  for (const { executionId, status } of journal.runs({ baseUrl, target })) {
    if (executionId !== null) return status === null || !isFinal(target, status) ? executionId : undefined;
  }
  return undefined;
}
