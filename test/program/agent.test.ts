import { existsSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { withEmulator } from '../helpers/emulator.ts';
import { listen } from '../helpers/faulty-server.ts';
import { runProgram } from '../helpers/run-program.ts';

const agentId = '00000000-0000-4000-8000-00000000a9e7';
const executionId = '00000000-0000-4000-8000-0000000000aa';
const created = { executionId, agentId, status: 'RUNNING', title: 'T', message: 'M', completedAt: null };

type Respond = (response: ServerResponse, interrupt: AbortController) => void;
const answer =
  (status: number, document: unknown, headers = {}): Respond =>
  (response) =>
    response.writeHead(status, headers).end(JSON.stringify(document));
const lose: Respond = (response) => response.destroy();

/** A service that still has Agents and responds to every request alike. */
async function withAgents(respond: Respond) {
  const { env } = await withEmulator({});
  const requests: { line: string; headers: IncomingHttpHeaders; body: string }[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    requests.push({ line: `${request.method} ${request.url}`, headers: request.headers, body });
    respond(response, interrupting);
  });
  const port = await listen(server);
  const interrupting = new AbortController();
  const run = (...argv: string[]) =>
    runProgram(['agent', ...argv], {
      env: { ...env, RUNCTL_BASE_URL: `http://127.0.0.1:${port}` },
      signal: interrupting.signal,
    });
  return { run, requests, hasJournal: () => existsSync(env.RUNCTL_STATE_DIR ?? '') };
}

test('an agent is triggered with one request, and its id is printed', async () => {
  const { run, requests, hasJournal } = await withAgents(answer(201, created));
  const { code, stdout, stderr } = await run('trigger', agentId.toUpperCase(), '--title', 'T', '--message', 'M');
  expect([code, stdout]).toEqual([0, `${executionId}\n`]);
  expect(stderr).toContain('Agents are discontinued');
  expect(requests.map(({ line, body }) => [line, JSON.parse(body)])).toEqual([
    [`POST /v0/agent/${agentId}/trigger`, { title: 'T', message: 'M' }],
  ]);
  expect(requests[0]?.headers).not.toHaveProperty('idempotency-key');
  expect(hasJournal()).toBe(false);
});

test('the status of an agent run is asked for once, and shown as the service says it', async () => {
  const { run, requests, hasJournal } = await withAgents(answer(200, { ...created, status: 'STOPPED' }));
  const shown = await run('status', agentId, executionId);
  expect(shown).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^status +STOPPED\nagent .*\nrun .*\ntitle +T\n/),
  });
  expect(shown.stderr).toContain('Agents are discontinued');
  const { code, stdout } = await run('status', agentId, executionId, '--json');
  expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ ...created, status: 'STOPPED' })]);
  expect(await run('status', agentId, executionId, '--field', 'status', '-q')).toMatchObject({
    stdout: 'STOPPED\n',
    stderr: '',
  });
  const line = `GET /v0/agent/${agentId}/executions/${executionId}`;
  expect(requests.map((request) => request.line)).toEqual([line, line, line]);
  expect(hasJournal()).toBe(false);
});

const withKey = ['--idempotency-key', 'k'];

test.each<[string, Respond, string[], number, object]>([
  ['accepted', answer(201, created), [], 0, { how: 'started', started: 'unknown', safeToRepeat: false }],
  ['accepted with a key', answer(201, created), withKey, 0, { how: 'started', safeToRepeat: true }],
  ['lost', lose, [], 12, { how: 'unknown', started: 'unknown', safeToRepeat: false }],
  ['lost with a key', lose, withKey, 12, { how: 'unknown', started: 'unknown', safeToRepeat: true }],
  ['answered without an id', answer(201, {}), [], 12, { how: 'unknown', started: 'unknown' }],
  ['answered by a gateway', answer(502, {}), [], 12, { how: 'unknown', started: 'unknown' }],
  [
    'refused',
    answer(410, { code: 'agentsDiscontinued' }),
    [],
    11,
    { how: 'not_started', started: 'no', safeToRepeat: true },
  ],
  ['refused for its API key', answer(401, {}), [], 7, { how: 'not_started', started: 'no' }],
  ['refused for now', answer(429, {}, { 'retry-after': '1' }), [], 9, { how: 'not_started', started: 'no' }],
])('a trigger that is %s is sent once', async (_, respond, flags, code, trigger) => {
  const { run, requests, hasJournal } = await withAgents(respond);
  const ended = await run('trigger', agentId, ...flags, '--json');
  const document = JSON.parse(ended.stdout);
  expect(ended.code).toBe(code);
  expect(document).toMatchObject(code === 0 ? created : { runctl: { exitCode: code } });
  const idempotencyKey = flags[1] ?? null;
  expect(document.runctl).toMatchObject({ command: 'agent trigger', trigger: { ...trigger, idempotencyKey } });
  expect(document.runctl.warnings).toMatchObject([{ name: 'agents_discontinued' }]);
  expect(requests.map(({ headers }) => headers['idempotency-key'] ?? null)).toEqual([idempotencyKey]);
  expect(hasJournal()).toBe(false);
});

test.each([
  ['without a key must not be repeated', [], /don't repeat this line.*--idempotency-key/],
  ['with a key may be repeated', withKey, /-> repeat the same line/],
])('a lost trigger %s, and says so', async (_, flags, hint) => {
  const { run } = await withAgents(lose);
  const { stderr } = await run('trigger', agentId, ...flags);
  expect(stderr).toMatch(/a run may have been started/);
  expect(stderr).toMatch(hint);
});

test.each([
  ['is not known', answer(422, { code: 'notFound' }), 6],
  ['is that of another run', answer(200, { ...created, executionId: agentId }), 10],
  ['is lost', lose, 10],
])('a status that %s is asked for once', async (_, respond, code) => {
  const { run, requests } = await withAgents(respond);
  const ended = await run('status', agentId, executionId, '--json');
  expect([ended.code, JSON.parse(ended.stdout).runctl.exitCode, requests.length]).toEqual([code, code, 1]);
});

test('a trigger that is interrupted while it is sent exits with the code of the signal, and may have started a run', async () => {
  const { run } = await withAgents((_, interrupt) => interrupt.abort('SIGTERM'));
  const { code, stdout } = await run('trigger', agentId, '--json');
  expect([code, JSON.parse(stdout).runctl.trigger]).toEqual([143, expect.objectContaining({ started: 'unknown' })]);
});
