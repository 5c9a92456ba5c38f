import { createRecorder } from '../journal/recorder.ts';
import type { Ports } from '../ports.ts';
import type { Fault } from '../run/fault.ts';
import type { Trigger } from '../run/trigger.ts';
import { type Attempts, type SendOptions, type SendPorts, sendAttempts } from './send-attempts.ts';
import { settle } from './settle.ts';
import type { TriggerResult } from './trigger-result.ts';

interface SendResult {
  result: TriggerResult;
  /** The last refusal, if the trigger is sent again after the run that is active has finished. */
  refusal?: Fault;
}

/**
 * Sends a trigger, with retries, and records how it ended. `refusalToWaitAfter` returns the refusal
 * if this command sends the trigger again later. By default it doesn't.
 */
export async function sendTrigger(
  trigger: Trigger,
  sendOptions: SendOptions,
  ports: Ports,
  refusalToWaitAfter: (attempts: Attempts) => Fault | undefined = () => undefined,
): Promise<SendResult> {
  const sendPorts = sendPortsOf(trigger, sendOptions, ports);
  const attempts = await sendAttempts(trigger, sendOptions, sendPorts);
  // It is decided before `settle`, because the journal says whether this process may send the
  // trigger again.
  const refusal = refusalToWaitAfter(attempts);
  const isLast = refusal === undefined;
  return { result: await settle(attempts, { trigger, sendOptions, isLast }, sendPorts), refusal };
}

/** What the attempts of this trigger need: its recorder, and an event before each retry. */
function sendPortsOf(trigger: Trigger, { earlier }: SendOptions, ports: Ports): SendPorts {
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
    commandLeftMs: session.leftMs,
  };
}
