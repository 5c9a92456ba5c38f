import { createRecorder } from '../journal/recorder.ts';
import type { Trigger } from '../run/trigger.ts';
import type { Ports } from '../watch/ports.ts';
import { type KeyHistory, type SendPorts, sendAttempts } from './send-attempts.ts';
import { settle } from './settle.ts';
import type { TriggerResult } from './trigger-result.ts';

/** Sends a trigger, with retries, and records how it ended. It isn't sent again after that. */
export async function sendTrigger(
  trigger: Trigger,
  history: KeyHistory,
  ports: Ports,
): Promise<TriggerResult> {
  const sendPorts = sendPortsOf(trigger, history, ports);
  const attempts = await sendAttempts(trigger, history, sendPorts);
  return settle(attempts, { isLast: true }, trigger, sendPorts);
}

/** What the attempts of this trigger need: its recorder, and an event before each retry. */
export function sendPortsOf(trigger: Trigger, { earlier }: KeyHistory, ports: Ports): SendPorts {
  const { journal, processes, session, emit } = ports;
  const { target } = trigger;
  return {
    ...ports,
    record: createRecorder(journal, {
      ...trigger,
      wasSentBefore: earlier !== undefined,
      earlierAttempts: earlier?.attempts,
      process: processes.own,
    }),
    onRetry: (failed) => emit({ event: 'attempt_failed', resource: 'trigger', target, ...failed }),
    leftMs: session.leftMs,
  };
}
