import type { UnresolvedTrigger } from '../journal/journal.ts';
import { createTriggerRecord } from '../journal/trigger-record.ts';
import { defaults } from '../runs/defaults.ts';
import type { RetryOptions } from '../runs/retry.ts';
import { nameOf, type Target } from '../runs/run.ts';
import type { Service } from '../runs/service.ts';
import { retryPortsOf, type Session } from '../session/session.ts';
import {
  type EarlierAttempts,
  type KeyHistory,
  type TriggerIdentity,
  type TriggerResult,
  triggerRun,
} from '../triggering/trigger.ts';

/** Sends one trigger, with retries, until the protocol ends. It is in the journal before it is sent. */
export function sendTrigger(
  identity: TriggerIdentity,
  body: string,
  { giveUpAfterMs = defaults.triggerGiveUpAfterMs, ...history }: KeyHistory & { giveUpAfterMs?: number },
  session: Session,
): Promise<TriggerResult> {
  const { service, journal, processes, inTurn, watches, reporter } = session;
  const isRepeat = history.earlier !== undefined;
  const record = createTriggerRecord(journal, { ...identity, body, isRepeat, process: processes.own });
  const onRetry: RetryOptions['onRetry'] = (fault, retryInMs, { failures, silentMs }) =>
    reporter.observe({
      event: 'attempt_failed',
      operation: 'trigger',
      target: identity.target,
      fault,
      failures,
      silentMs: silentMs(),
      retryInMs,
    });
  const ports = { ...retryPortsOf(session, giveUpAfterMs), leftMs: watches.leftMs, inTurn, onRetry };
  return triggerRun(identity, body, { ...ports, service, record }, history);
}

export function earlierAttemptsOf({ at, lastSentAt, ageMs }: UnresolvedTrigger): EarlierAttempts {
  return { firstSentAtMs: Date.parse(at), lastSentAtMs: Date.parse(lastSentAt), ageMs };
}

/** A session whose next trigger also warns of earlier triggers of the target without a known outcome. */
export function withOpenTriggerWarning(target: Target, session: Session): Session {
  const { service } = session;
  let isFirst = true;
  const trigger: Service['trigger'] = (request, signal) => {
    const answer = service.trigger(request, signal);
    // The journal is read while the service works, so that it costs no time.
    if (isFirst) warnOfOpenTriggers(target, session);
    isFirst = false;
    return answer;
  };
  return { ...session, service: { ...service, trigger } };
}

const justSentMs = 5_000;

function warnOfOpenTriggers(target: Target, session: Session): void {
  const { journal, baseUrl, sentKeys, reporter } = session;
  const open = journal
    .unresolvedTriggers({ baseUrl, target })
    // Another process may still be sending a new trigger.
    .filter(({ reason, ageMs }) => reason !== undefined || ageMs > justSentMs);
  if (open.every(({ idempotencyKey }) => sentKeys.has(idempotencyKey))) return;
  const earlier = `an earlier trigger of ${nameOf(target)} may or may not have started a run`;
  const message = `${earlier}: resolve it with \`runctl recover\``;
  reporter.observe({ event: 'warning', name: 'unresolved_trigger', message, target });
}
