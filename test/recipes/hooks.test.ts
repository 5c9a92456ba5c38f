import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Scenario } from '../../src/emulator/scenario.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { needs } from '../helpers/needs.ts';
import { runProgram } from '../helpers/run-program.ts';
import { withBareMachine } from './bare-machine.ts';

const text = readFileSync(join(import.meta.dirname, '../../docs/hooks.md'), 'utf8');

/** The block that follows these words. */
function blockAfter(words: string): string {
  const [, block] = /```\w+\n([\s\S]*?)```/.exec(text.slice(text.indexOf(words))) ?? [];
  if (!text.includes(words) || block === undefined) throw new Error(`no block after ${words}`);
  return block;
}

/** A listener on loopback that keeps what it is sent. */
async function listener() {
  const received: { path: string; body: string }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      received.push({ path: request.url ?? '', body });
      response.end('ok');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

const failing: Scenario = { automations: { '*': { duration: '1ms', outcome: 'FAILED' } } };
const quick: Scenario = { automations: { '*': { duration: '1ms' } } };
const watched = ['trigger', 'nightly', '--watch', '--quiet', '--interval', '20ms'];

/** Stores the hook that follows these words as it is printed. What it gets after a run is seen without another process. */
async function storeHook(words: string) {
  const { run, env, folder } = await withBareMachine();
  const at = (name: string) => join(folder, name);
  for (const name of ['mail']) {
    writeFileSync(at(name), `#!/bin/sh\nprintf '%s\\n' "$@" > '${at('args')}'; cat > '${at('input')}'\n`, {
      mode: 0o755,
    });
  }
  expect(await run(['sh', '-c', blockAfter(words)])).toMatchObject({ code: 0 });
  const read = (name: string) => (existsSync(at(name)) ? readFileSync(at(name), 'utf8') : '');
  /** Triggers and watches a run. */
  return async function afterRun(scenario: Scenario, extra: Record<string, string> = {}) {
    const { env: settings } = await withEmulator(scenario, { nowMs: Date.now });
    const folders = { ...env, PATH: `${folder}:${env.PATH}` };
    const { stderr } = await runProgram(watched, { env: { ...settings, ...folders, ...extra } });
    expect(stderr).not.toContain('--on-exit');
    return { args: read('args'), input: read('input') };
  };
}

test('a ping says the exit code, and has the document as its body', async () => {
  const { url, received } = await listener();
  const afterRun = await storeHook('A service that expects pings');
  for (const scenario of [quick, failing, { credits: 0 }]) await afterRun(scenario, { PING_URL: `${url}/ping` });
  expect(received.map(({ path }) => path)).toEqual(['/ping/0', '/ping/1', '/ping/8']);
  const codes = received.map(({ body }) => JSON.parse(body).runctl.exitCode);
  expect(codes).toEqual([0, 1, 8]);
});

test('a chat hears of what is wrong, and of nothing else', async () => {
  const { url, received } = await listener();
  const chat = await storeHook('A chat');
  await chat(quick, { CHAT_URL: url });
  expect(received).toEqual([]);
  await chat({ credits: 0 }, { CHAT_URL: `${url}/chat` });
  expect(received).toEqual([{ path: '/chat', body: '{"text":"runctl trigger: no_credits, exit code 8"}' }]);
});

test('mail has the outcome as its subject and the document as its body', async () => {
  const afterRun = await storeHook('**Mail**');
  expect((await afterRun(quick, { MAIL_TO: 'ops' })).args).toBe('');
  const { args, input } = await afterRun(failing, { MAIL_TO: 'ops' });
  expect(args).toBe('-s\nrunctl trigger: run_failed\nops\n');
  expect(JSON.parse(input)).toMatchObject({ status: 'FAILED' });
});

test('the monitoring plugin and the cron line say that an automation is overdue', async () => {
  const { run, env, settings, folder } = await withBareMachine(quick);
  writeFileSync(join(folder, 'plugin'), blockAfter('As a monitoring plugin'));
  const plugin = () => run(['sh', 'plugin', 'nightly', '--within', '26h'], { env: settings });
  const [, cron = ''] = /^30 9 \* \* \* (.*)$/m.exec(blockAfter('**From cron**')) ?? [];
  expect(await plugin()).toMatchObject({
    code: 2,
    stdout: expect.stringContaining('no runs are recorded on this machine'),
  });
  expect(await run(['sh', '-c', cron], { env: settings })).toMatchObject({ code: 15 });
  await runProgram(watched, { env: { ...env, ...settings } });
  expect(await plugin()).toMatchObject({ code: 0, stdout: expect.stringContaining('nightly completed') });
  expect(await run(['sh', '-c', cron], { env: settings })).toMatchObject({ code: 0, stdout: '', stderr: '' });
  expect(await run(['sh', 'plugin', 'nightly', '--within', '0'], { env: settings })).toMatchObject({ code: 3 });
});

test('the textfile for Prometheus is written in one step', async () => {
  const { run, env, settings, folder } = await withBareMachine(quick);
  await runProgram(watched, { env: { ...env, ...settings } });
  mkdirSync(join(folder, 'textfiles'));
  const around = { ...settings, TEXTFILES: join(folder, 'textfiles') };
  expect(await run(['sh', '-c', blockAfter('**Prometheus**')], { env: around })).toMatchObject({ code: 0, stderr: '' });
  const written = readFileSync(join(folder, 'textfiles/runctl.prom'), 'utf8');
  expect(written).toMatch(/^runctl_runs\{automation="nightly"\} 1$/m);
  expect(written).toMatch(/^runctl_last_completed_timestamp_seconds\{automation="nightly"\} \d+$/m);
  expect(written).not.toContain('null');
});

test('the unit of the watcher is one that systemd takes', async (context) => {
  needs(context, 'systemd-analyze');
  const { folder } = await withBareMachine();
  writeFileSync(join(folder, 'runctl-follow.service'), blockAfter('## One follower'));
  const verify = ['verify', '--man=no', 'runctl-follow.service'];
  const { status, stderr } = spawnSync('systemd-analyze', verify, { cwd: folder, encoding: 'utf8' });
  const ours = stderr.split('\n').filter((line) => line.includes('runctl-follow'));
  expect({ status, ours }).toEqual({ status: 0, ours: [] });
});
