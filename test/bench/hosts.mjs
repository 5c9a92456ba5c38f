// `npm run stress -- hosts`: an array of fifty tasks on two hosts, each with a state folder of its own, eight tasks at once.
// One host is killed in the middle; the other one takes over what it had not finished. Takes half a minute.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { judge, program, retryable, startService, tasks } from './array-of-fifty.mjs';

const folder = mkdtempSync(join(tmpdir(), 'runctl-hosts-'));
const { settings, runs, stop } = await startService(folder);
const waiting = [...tasks];
const codes = new Map();
let startedAgain = 0;
let retried = 0;

/** Works off the tasks that wait, until none does; `kill` ends it and all that it has started. */
function startHost(name) {
  const running = new Map();
  let isUp = true;
  const run = (task) =>
    new Promise((resolve) => {
      const key = ['--idempotency-key', `array-17-${task}`];
      const argv = [program, 'trigger', `job-${task}`, '--watch', '--quiet', '--if-active', 'wait', ...key];
      const env = { ...settings, RUNCTL_STATE_DIR: join(folder, name), RUNCTL_CONFIG_DIR: join(folder, 'config') };
      const child = spawn(process.execPath, argv, { env, stdio: 'ignore' });
      running.set(task, child);
      child.on('close', (code) => {
        if (isUp) codes.set(task, code);
        if (isUp && retryable.includes(code)) {
          retried += 1;
          waiting.push(task);
        }
        running.delete(task);
        resolve();
      });
    });
  const worker = async () => {
    while (isUp && waiting.length > 0) await run(waiting.shift());
  };
  return {
    done: Promise.all(Array.from({ length: 8 }, worker)),
    kill() {
      isUp = false;
      startedAgain = running.size;
      waiting.push(...running.keys());
      for (const child of running.values()) child.kill('SIGKILL');
    },
  };
}

const hosts = ['one', 'two'].map(startHost);
await pause(7_000);
hosts[0].kill();
await Promise.all(hosts.map(({ done }) => done));
// What the lost host left after the other one had run out of tasks.
await startHost('two').done;
judge(await runs(), codes, {
  'tasks cut off with their host': startedAgain,
  'tried again after their exit code': retried,
});
stop();
rmSync(folder, { recursive: true, force: true });
