import { type Connection, retryPortsOf } from '../connection/connection.ts';
import { createTriggerRecord } from '../journal/trigger-recorder.ts';
import { defaults } from '../run/limits.ts';
import type { StartedExecution } from '../run/service.ts';
import type { RetryOptions } from '../service/retry.ts';
import {
  type EarlierUse,
  sendUntilKnown,
  type TriggerIdentity,
  type TriggerResult,
} from '../triggering/send-until-known.ts';
import type { Following } from './following.ts';
import type { Plan } from './plan.ts';

type SendFlags = Partial<Pick<Plan, 'giveUpAfterMs'>>;

/** Sends one trigger, with retries, until the protocol ends. Writes it to the journal before it is sent. */
export function sendTrigger(
  identity: TriggerIdentity,
  body: string,
  { giveUpAfterMs = defaults.giveUpAfterMs, ...earlierUse }: EarlierUse & SendFlags,
  connection: Connection & Partial<Pick<Following, 'watches'>>,
): Promise<TriggerResult<StartedExecution>> {
  const { service, journal, processes, ignoresKeys, watches, context } = connection;
  const isRepeat = earlierUse.earlier !== undefined;
  const record = createTriggerRecord(journal, { ...identity, body, isRepeat, process: processes.own });
  const isRepeatable = !ignoresKeys;
  const { target } = identity;
  const onRetry: RetryOptions['onRetry'] = (failed) =>
    context.reporter.observe({ event: 'attempt_failed', operation: 'trigger', target, ...failed });
  const ports = { ...retryPortsOf(connection, giveUpAfterMs), leftMs: watches?.leftMs, onRetry };
  return sendUntilKnown(identity, body, { ...ports, service, record }, { isRepeatable, ...earlierUse });
}
