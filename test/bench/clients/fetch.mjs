// Node's fetch: five tries that wait as Retry-After asks, one idempotency key for all tries of the trigger.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const { RUNCTL_BASE_URL, RUNCTL_PROJECT, RUNCTL_API_KEY } = process.env;
const automation = `${RUNCTL_BASE_URL}/v0/automation/${RUNCTL_PROJECT}/${process.argv[2]}`;

async function request(path, init = {}) {
  for (let attempt = 1; ; attempt++) {
    let waitMs = 1000 * 2 ** (attempt - 1);
    try {
      const headers = { 'x-api-key': RUNCTL_API_KEY, 'content-type': 'application/json', ...init.headers };
      const response = await fetch(automation + path, { ...init, headers, signal: AbortSignal.timeout(30_000) });
      if (response.ok) return await response.json();
      const error = new Error(`HTTP ${response.status}: ${await response.text()}`);
      if (response.status < 500 && response.status !== 429) throw Object.assign(error, { isFinal: true });
      waitMs = 1000 * Number(response.headers.get('retry-after')) || waitMs;
      throw error;
    } catch (error) {
      if (error.isFinal || attempt === 5) throw error;
      await sleep(waitMs);
    }
  }
}

const started = await request('/trigger', { method: 'POST', body: '{}', headers: { 'idempotency-key': randomUUID() } });
let run = started;
while (run.status === 'RUNNING') {
  await sleep(3000);
  run = await request(`/executions/${started.executionId}`);
}
const result = await request(`/executions/${started.executionId}/result`);
console.log(result.status, result.output ?? result.error);
process.exitCode = run.status === 'COMPLETED' ? 0 : 1;
