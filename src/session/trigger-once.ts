import type { Context } from '../context.ts';
import { createTriggerRecord } from '../journal/trigger-record.ts';
import {
  interruptedTriggerProblem,
  noRunProblem,
  otherAccountProblem,
  refusedTriggerProblem,
  unknownTriggerProblem,
} from '../problems/trigger-problems.ts';
import type { Reporter } from '../render/reporter.ts';
import { defaults } from '../runs/defaults.ts';
import { formatDuration } from '../runs/duration.ts';
import { nameOf, type Target } from '../runs/run.ts';
import type { Fault, Service } from '../runs/service.ts';
import { triggerRun } from '../runs/trigger.ts';
import type { Connection } from './connect.ts';
import { lookUp } from './poll-once.ts';
import type { Start, StartFlags } from './start-run.ts';

/** Sends one trigger to its end, unless the journal knows what came of its key. A conflict is no `Problem` yet. */
export async function triggerOnce(
  { target, body }: { target: Target; body: string },
  idempotencyKey: string,
  flags: StartFlags,
  connection: Connection,
  { say }: Pick<Reporter, 'say'>,
  context: Context,
): Promise<Exclude<Start, { kind: 'skipped' }> | { kind: 'conflict'; fault: Fault }> {
  const { account, baseUrl, journal, service, budget } = connection;
  const { clock, random, signal } = context;
  const given = flags.idempotencyKey !== undefined;
  const earlier = given ? journal.findKey({ baseUrl, target, idempotencyKey }) : undefined;
  if (earlier?.state === 'accepted') {
    const run = { target, executionId: earlier.executionId };
    return { kind: 'replayed', ...(await lookUp(run, flags, connection, context)) };
  }
  const open = earlier?.state === 'open' ? earlier.trigger : undefined;
  if (open && open.account !== account) throw otherAccountProblem(target, idempotencyKey);
  // A key that was sent before goes with the bytes that it was sent with.
  const bytes = open?.body ?? body;
  connection.sentKeys.add(idempotencyKey);
  const who = (flags.runs ?? 1) > 1 ? `${nameOf(target)}: ` : '';
  let isFirst = true;
  const trigger: Service['trigger'] = (request, signal) => {
    const answer = service.trigger(request, signal);
    // Read while the service thinks, so that it costs nothing.
    if (isFirst) tellOfOpenTriggers(target, connection, say);
    isFirst = false;
    return answer;
  };
  const outcome = await triggerRun(
    { target, idempotencyKey, body: bytes },
    {
      service: { trigger },
      budget,
      record: createTriggerRecord(journal, {
        baseUrl,
        target,
        idempotencyKey,
        account,
        body: bytes,
        userProvided: given,
        isRepeat: open !== undefined,
      }),
      clock,
      random,
      signal,
      giveUpAfterMs: flags.giveUpAfterMs ?? defaults.giveUpAfterMs,
      onRetry: (fault, delayMs) =>
        say(`${who}${fault.message}; trying again with the same key in ${formatDuration(delayMs)}`),
    },
    { given, ageMs: open?.ageMs },
  );
  if (outcome.end === 'started') {
    const { execution } = outcome;
    const run = { target, executionId: execution.executionId };
    return { kind: 'started', run, execution, triggeredAtMs: clock.nowMs() };
  }
  const { end, fault } = outcome;
  const interrupted = signal.aborted && outcome.stopped;
  if (end === 'unknown') {
    const problem = interrupted
      ? interruptedTriggerProblem(signal, target, idempotencyKey)
      : unknownTriggerProblem(fault, target, idempotencyKey);
    const isOnRecord = journal.findKey({ baseUrl, target, idempotencyKey })?.state === 'open';
    // What is not in the journal, `recover` cannot settle.
    throw isOnRecord
      ? problem
      : problem.with({
          hint: `repeat it with \`--idempotency-key ${idempotencyKey}\`, which cannot start a second run`,
        });
  }
  if (interrupted) throw noRunProblem(signal, idempotencyKey);
  if (fault.kind === 'already_active') return { kind: 'conflict', fault };
  throw refusedTriggerProblem(fault, target, idempotencyKey);
}

const justSentMs = 5_000;

function tellOfOpenTriggers(target: Target, { journal, baseUrl, sentKeys }: Connection, say: Reporter['say']): void {
  // No further back than `recover` goes.
  const open = journal
    .unresolvedTriggers({ baseUrl, target, maxAgeMs: defaults.keyRetentionMs })
    // Another process may be just sending it.
    .filter(({ reason, ageMs }) => reason !== undefined || ageMs > justSentMs);
  if (open.every(({ idempotencyKey }) => sentKeys.has(idempotencyKey))) return;
  say(`an earlier trigger of ${nameOf(target)} may or may not have started a run: settle it with \`runctl recover\``);
}
