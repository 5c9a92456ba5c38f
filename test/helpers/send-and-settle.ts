import type { Trigger } from '../../src/run/trigger.ts';
import { type KeyHistory, type SendPorts, sendAttempts } from '../../src/start/send-attempts.ts';
import { settle } from '../../src/start/settle.ts';
import type { TriggerResult } from '../../src/start/trigger-result.ts';

/** Sends a trigger with this recorder, and records what became of it, as the commands do. */
export async function sendAndSettle(
  trigger: Trigger,
  history: Partial<KeyHistory> & { isLast?: boolean },
  ports: Omit<SendPorts, 'reloadApiKey'>,
): Promise<TriggerResult> {
  const { isLast = true, ...known } = history;
  const sendPorts: SendPorts = { reloadApiKey: async () => ({ kind: 'same' }), ...ports };
  const keyHistory = { mayRepeatAfterLoss: true, ...known };
  const attempts = await sendAttempts(trigger, keyHistory, sendPorts);
  return settle(attempts, { trigger, history: keyHistory, isLast }, sendPorts);
}
