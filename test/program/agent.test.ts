// The discontinued endpoints for Agents: one request, never repeated, and nothing in the journal.
import { existsSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { listen } from '../helpers/faulty-server.ts';
import { withMachine } from '../helpers/machine.ts';

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
  const { run, env } = await withMachine();
  const requests: { line: string; headers: IncomingHttpHeaders; body: string }[] = [];
  const interrupting = new AbortController();
  const server = createServer(async (request, response) => {
    const body = await text(request);
    requests.push({ line: `${request.method} ${request.url}`, headers: request.headers, body });
    respond(response, interrupting);
  });
  const options = { env: { RUNCTL_BASE_URL: `http://127.0.0.1:${await listen(server)}` }, signal: interrupting.signal };
  return {
    run: (line: string) => run(`agent ${line}`, options),
    requests,
    hasJournal: () => existsSync(env.RUNCTL_STATE_DIR ?? ''),
  };
}

test('an agent is triggered with one request, and its id is printed', async () => {
  const { run, requests } = await withAgents(answer(201, created));
  const { code, stdout, stderr } = await run(`trigger ${agentId.toUpperCase()} --title T --message M`);
  expect([code, stdout, stderr]).toEqual([0, `${executionId}\n`, expect.stringContaining('discontinued')]);
  expect(requests).toMatchObject([{ line: `POST /v0/agent/${agentId}/trigger` }]);
  expect(JSON.parse(requests[0]?.body ?? '')).toEqual({ title: 'T', message: 'M' });
});

test('the status of an agent run is requested once, and shown as the service sent it', async () => {
  const { run, requests, hasJournal } = await withAgents(answer(200, { ...created, status: 'STOPPED' }));
  const line = `status ${agentId} ${executionId}`;
  const block = expect.stringMatching(/^status +STOPPED\nagent .*\nrun .*\ntitle +T\n/);
  expect(await run(line)).toMatchObject({ code: 0, stdout: block, stderr: expect.stringContaining('discontinued') });
  expect((await run(`${line} --json`)).documents).toMatchObject([{ ...created, status: 'STOPPED' }]);
  expect(await run(`${line} --field status -q`)).toMatchObject({ stdout: 'STOPPED\n', stderr: '' });
  const asked = `GET /v0/agent/${agentId}/executions/${executionId}`;
  expect([requests.map((request) => request.line), hasJournal()]).toEqual([[asked, asked, asked], false]);
});

const key = ' --idempotency-key k';

test.each<[string, Respond, flag: string, trigger: string, safeToRepeat: boolean, code: number]>([
  ['accepted', answer(201, created), '', 'started unknown', false, 0],
  ['accepted with a key', answer(201, created), key, 'started unknown', true, 0],
  ['lost', lose, '', 'unknown unknown', false, 12],
  ['lost with a key', lose, key, 'unknown unknown', true, 12],
  ['answered without an id', answer(201, {}), '', 'unknown unknown', false, 12],
  ['answered by a gateway', answer(502, {}), '', 'unknown unknown', false, 12],
  ['refused', answer(410, { code: 'agentsDiscontinued' }), '', 'not_started no', true, 11],
  ['refused for its API key', answer(401, {}), '', 'not_started no', true, 7],
  ['refused for now', answer(429, {}, { 'retry-after': '1' }), '', 'not_started no', true, 9],
  ['interrupted', (_, interrupt) => interrupt.abort('SIGTERM'), '', 'unknown unknown', false, 143],
])('a trigger that is %s is sent once', async (_, respond, flag, trigger, safeToRepeat, code) => {
  const { run, requests, hasJournal } = await withAgents(respond);
  const { documents, stderr, ...ended } = await run(`trigger ${agentId}${flag} --json`);
  const idempotencyKey = flag ? 'k' : null;
  const [how, started] = trigger.split(' ');
  expect(documents).toMatchObject([
    {
      ...(code === 0 && created),
      runctl: {
        ...{ command: 'agent trigger', exitCode: code, warnings: [{ name: 'agents_discontinued' }] },
        trigger: { how, started, safeToRepeat, idempotencyKey },
      },
    },
  ]);
  expect([ended.code, requests.map(({ headers }) => headers['idempotency-key'] ?? null)]).toEqual([
    code,
    [idempotencyKey],
  ]);
  expect(hasJournal()).toBe(false);
  // Only the same key makes it safe to type that line again.
  expect(/repeat the same line/.test(stderr)).toBe(code === 12 && safeToRepeat);
});

test.each([
  ['is not known', answer(422, { code: 'notFound' }), 6],
  ['is that of another run', answer(200, { ...created, executionId: agentId }), 10],
  ['is lost', lose, 10],
])('a status that %s is requested once', async (_, respond, code) => {
  const { run, requests } = await withAgents(respond);
  const { documents, ...ended } = await run(`status ${agentId} ${executionId} --json`);
  expect([ended.code, documents[0].runctl.exitCode, requests.length]).toEqual([code, code, 1]);
});
