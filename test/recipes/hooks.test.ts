import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Scenario } from '../../src/emulator/scenario.ts';
import { needs } from '../helpers/needs.ts';
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
  const received: { path: string; title: string; body: string }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      received.push({ path: request.url ?? '', title: String(request.headers.title ?? ''), body });
      response.end('ok');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

const failing: Scenario = { automations: { '*': { duration: '1ms', outcome: 'FAILED' } } };
const quick: Scenario = { automations: { '*': { duration: '1ms' } } };

/** Stores the hook that follows these words, then triggers and watches a run. */
async function afterRun(words: string, scenario: Scenario, extra: Record<string, string> = {}) {
  const { run, settings, folder } = await withBareMachine(scenario);
  for (const name of ['mail', 'notify-send']) {
    writeFileSync(join(folder, name), `#!/bin/sh\nprintf '%s\\n' "$@" > ${folder}/args; cat > ${folder}/input\n`);
    chmodSync(join(folder, name), 0o755);
  }
  const env = { ...settings, ...extra };
  expect(await run(['sh', '-c', blockAfter(words)], { env })).toMatchObject({ code: 0 });
  const command = 'PATH="$PWD:$PATH"; runctl trigger nightly --watch --quiet';
  const { code, stderr } = await run(['sh', '-c', command], { env });
  expect(stderr).not.toContain('--on-exit');
  const read = (name: string) => (existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : '');
  return { code, args: read('args'), input: read('input') };
}

test.each([
  ['0', quick],
  ['1', failing],
  ['8', { credits: 0 }],
])('a ping says the exit code: %s', async (code, scenario) => {
  const { url, received } = await listener();
  await afterRun('A service that misses pings', scenario, { PING_URL: `${url}/ping` });
  expect(received.map(({ path }) => path)).toEqual([`/ping/${code}`]);
  expect(JSON.parse(received[0]?.body ?? '')).toMatchObject({ runctl: { exitCode: Number(code) } });
});

test('a push message and a chat hear of what is wrong, and of nothing else', async () => {
  const { url, received } = await listener();
  await afterRun('A push message', quick, { PUSH_URL: url });
  await afterRun('A chat', quick, { CHAT_URL: url });
  expect(received).toEqual([]);
  await afterRun('A push message', failing, { PUSH_URL: `${url}/push` });
  await afterRun('A chat', { credits: 0 }, { CHAT_URL: `${url}/chat` });
  expect(received).toEqual([
    { path: '/push', title: 'runctl trigger', body: 'nightly: run_failed' },
    { path: '/chat', title: '', body: '{"text":"runctl trigger: no_credits, exit code 8"}' },
  ]);
});

test('mail has the outcome as its subject and the document as its body', async () => {
  expect((await afterRun('**Mail**', quick, { MAIL_TO: 'ops' })).args).toBe('');
  const { args, input } = await afterRun('**Mail**', failing, { MAIL_TO: 'ops' });
  expect(args).toBe('-s\nrunctl trigger: run_failed\nops\n');
  expect(JSON.parse(input)).toMatchObject({ status: 'FAILED' });
});

test('the desktop shows the automation and the outcome', async () => {
  expect((await afterRun('The desktop', quick)).args).toBe('runctl trigger\nnightly: ok\n');
});

test('the monitoring plugin, the login banner and the cron line say that an automation is overdue', async () => {
  const { run, settings, folder } = await withBareMachine(quick);
  writeFileSync(join(folder, 'plugin'), blockAfter('As a monitoring plugin'));
  const plugin = () => run(['sh', 'plugin', 'nightly', '--within', '26h'], { env: settings });
  const [, cron = ''] = /^30 9 \* \* \* (.*)$/m.exec(blockAfter('**From cron**')) ?? [];
  expect(await plugin()).toMatchObject({ code: 2, stdout: expect.stringContaining('this machine knows no run of it') });
  expect(await run(['sh', '-c', cron], { env: settings })).toMatchObject({ code: 15 });
  const banner = await run(['sh', '-c', blockAfter('**At login**')], { env: settings });
  expect(banner).toMatchObject({ code: 0, stderr: expect.stringContaining('this machine knows no run of it') });
  await run(['runctl', 'trigger', 'nightly', '--watch'], { env: settings });
  expect(await plugin()).toMatchObject({ code: 0, stdout: expect.stringContaining('nightly completed') });
  expect(await run(['sh', '-c', cron], { env: settings })).toMatchObject({ code: 0, stdout: '', stderr: '' });
  expect(await run(['sh', 'plugin', 'nightly', '--within', '0'], { env: settings })).toMatchObject({ code: 3 });
});

test('the textfile for Prometheus is written in one step', async () => {
  const { run, settings, folder } = await withBareMachine(quick);
  await run(['runctl', 'trigger', 'nightly', '--watch'], { env: settings });
  mkdirSync(join(folder, 'textfiles'));
  const env = { ...settings, TEXTFILES: join(folder, 'textfiles') };
  expect(await run(['sh', '-c', blockAfter('**Prometheus**')], { env })).toMatchObject({ code: 0, stderr: '' });
  const written = readFileSync(join(folder, 'textfiles/runctl.prom'), 'utf8');
  expect(written).toMatch(/^runctl_runs\{.*automation="nightly",status="COMPLETED"\} 1$/m);
});

test('the unit of the watcher is one that systemd takes', async (context) => {
  needs(context, 'systemd-analyze');
  const { folder } = await withBareMachine();
  writeFileSync(join(folder, 'runctl-follow.service'), blockAfter('## One watcher'));
  const verify = ['verify', '--man=no', 'runctl-follow.service'];
  const { status, stderr } = spawnSync('systemd-analyze', verify, { cwd: folder, encoding: 'utf8' });
  const ours = stderr.split('\n').filter((line) => line.includes('runctl-follow'));
  expect({ status, ours }).toEqual({ status: 0, ours: [] });
});
