import type { Trigger } from '../../src/run/trigger.ts';
import { type SendOptions, type SendPorts, sendAttempts } from '../../src/start/send-attempts.ts';
import { settle } from '../../src/start/settle.ts';
import type { TriggerResult } from '../../src/start/trigger-result.ts';

/** Sends a trigger with this recorder, and records what became of it, as the commands do. */
export async function sendAndSettle(
  trigger: Trigger,
  sendOptions: Partial<SendOptions> & { isLast?: boolean },
  ports: Omit<SendPorts, 'reloadApiKey'>,
): Promise<TriggerResult> {
  const { isLast = true, ...known } = sendOptions;
  const sendPorts: SendPorts = { reloadApiKey: async () => ({ kind: 'same' }), ...ports };
  const keyOptions = { mayRepeatAfterLoss: true, ...known };
  const attempts = await sendAttempts(trigger, keyOptions, sendPorts);
  return settle(attempts, { trigger, sendOptions: keyOptions, isLast }, sendPorts);
}
