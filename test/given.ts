import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { runCli } from '../src/run-cli.ts';
import { createSecrets } from '../src/text/secrets.ts';

export const projectId = '00000000-0000-4000-8000-000000000001';
export const executionId = '4b7c19e2-65a1-4c49-a73d-3512aa99cd94';
export const otherId = '842520f2-394b-498f-85da-f82aa6726536';
/** The run as an argument that works without a journal. */
export const fullPath = `${projectId}/nightly/${executionId}`;
export const apiKey = 'sk-live-3f9a7c2b1d8e4056';
/** Saturday, 28 November 2026, 12:00 UTC */
export const noonMs = Date.UTC(2026, 10, 28, 12);

export interface Request {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** By the clock of the test. */
  atMs: number;
}

/** What the service does with one request. */
export type Response = (request: Request, response: ServerResponse, world: TestWorld) => void;

interface TestWorld {
  /** The user presses Ctrl-C, or another signal comes. */
  interrupt(signal?: 'SIGINT' | 'SIGTERM' | 'SIGHUP'): void;
  clock: ReturnType<typeof createTestClock>;
}

export const json =
  (httpStatus: number, document: unknown, headers: Record<string, string> = {}): Response =>
  (_, response) =>
    response
      .writeHead(httpStatus, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(document));

export const html = (httpStatus: number, words = 'Sign in'): Response => {
  const page = `<!doctype html><html><title>${words}</title><body>${words}</body></html>`;
  return (_, response) => response.writeHead(httpStatus, { 'content-type': 'text/html' }).end(page);
};

export const connectionLost: Response = (_, response) => response.socket?.resetAndDestroy();

/** The connection stays open, and the user presses Ctrl-C, or another signal comes. */
export const interrupting =
  (signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP' = 'SIGINT'): Response =>
  (_request, _response, { interrupt }) =>
    interrupt(signal);

/** An answer for each automation, because several are asked for at once. */
export const byName =
  (responses: Record<string, Response>): Response =>
  (request, response, world) =>
    responses[request.path.split('/')[4] ?? '']?.(request, response, world);

export const keyOf = (request: Request | undefined) => request?.headers['idempotency-key'];

const automation = { projectId, automationName: 'nightly', title: null, message: null };
const startedAt = new Date(noonMs).toISOString();
const times = { startedAt, createdAt: startedAt };

export const run = (status: string, fields: object = {}, id = executionId) => ({
  executionId: id,
  ...automation,
  status,
  ...times,
  completedAt: status === 'RUNNING' ? null : new Date(noonMs + 302_000).toISOString(),
  ...(status === 'RUNNING' ? {} : { creditsCharged: 12 }),
  ...fields,
});

export const accepted = json(201, run('RUNNING'));
export const acceptedAs = (id: string) => json(201, run('RUNNING', {}, id));

const idIn = ({ path }: Request) => /executions\/([^/]+)/.exec(path)?.[1];

/** The status of the run that is asked for. */
export const statusOf =
  (status: string, fields: object = {}, id?: string): Response =>
  (request, ...args) =>
    json(200, run(status, fields, id ?? idIn(request)))(request, ...args);
export const running = statusOf('RUNNING');
export const completed = statusOf('COMPLETED');
export const failed = statusOf('FAILED');
export const alreadyActive = json(422, { code: 'runAlreadyActive', message: 'It is running' });
export const notFound = json(422, { code: 'notFound', message: 'There is no such execution' });

const summary = { stepCount: 3, succeededSteps: 3, failedSteps: 0, skippedSteps: 0 };
/** The result of the run that is asked for. */
export const resultOf =
  (status: string, fields: object = {}): Response =>
  (request, ...args) => {
    const document = {
      executionId: idIn(request),
      ...automation,
      status,
      output: status === 'COMPLETED' ? 'The report was sent to 3 people.' : null,
      summary,
      error: null,
      completedAt: new Date(noonMs + 302_000).toISOString(),
      ...fields,
    };
    return json(200, document)(request, ...args);
  };
export const output = resultOf('COMPLETED');
export const failedResult = resultOf('FAILED', {
  summary: { ...summary, succeededSteps: 2, failedSteps: 1 },
  error: { type: 'step_failed', message: 'Step "Send the report": the mail server said no' },
});

interface Given {
  /** One after the other; the last one is repeated. */
  trigger?: Response[];
  status?: Response[];
  result?: Response[];
  /** Instead of the above, for the runs with these ids. */
  runs?: Record<string, { status?: Response[]; result?: Response[] }>;
  /** Instead of the base URL, API key and project in the environment. */
  env?: Record<string, string | undefined>;
  /** `config.json` */
  config?: unknown;
  /** Whether stdout and stderr are terminals. */
  isTTY?: boolean;
  stdin?: string;
  /** Why stdout can't be written: the code of the error. */
  stdoutError?: 'EPIPE' | 'ENOSPC';
}

/** A scripted service on a free port, an empty journal, and runctl in this process. */
export async function given(options: Given = {}) {
  const { env, config, isTTY = false, stdin = '', stdoutError, ...script } = options;
  const folder = mkdtempSync(join(tmpdir(), 'runctl-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const requests: Request[] = [];
  const clock = createTestClock();
  let interrupt = new AbortController();
  const world: TestWorld = { clock, interrupt: (signal = 'SIGINT') => interrupt.abort(signal) };
  const baseUrl = await serve(script, requests, world);
  if (config !== undefined) {
    writeFileSync(join(folder, 'config.json'), JSON.stringify(config), { mode: 0o600 });
  }

  /** Types a command. Words are separated by blanks; a quoted one may have them. */
  async function runctl(line: string, more: Record<string, string | undefined> = {}) {
    const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(
      ([, quoted, plain]) => quoted ?? plain,
    );
    interrupt = new AbortController();
    const out = createSink(isTTY, stdoutError);
    const err = createSink(isTTY);
    const secrets = createSecrets();
    const exitCode = await runCli(words as string[], {
      stdout: out.sink,
      stderr: { ...err.sink, write: (text) => err.sink.write(secrets.scrub(text)) },
      terminal: process.stderr,
      readStdin: async () => stdin,
      canPrompt: false,
      env: {
        RUNCTL_BASE_URL: baseUrl,
        RUNCTL_API_KEY: apiKey,
        RUNCTL_PROJECT: projectId,
        RUNCTL_CONFIG_DIR: folder,
        RUNCTL_STATE_DIR: folder,
        ...env,
        ...more,
      },
      clock,
      random: () => 0.5,
      randomUuid: createUuids(),
      signal: interrupt.signal,
      secrets,
      terminalStyle: { hasUnicode: true, canRedraw: false },
    });
    const [stdout, stderr] = [out.text(), err.text()];
    return {
      exitCode,
      stdout,
      stderr,
      /** The documents of `--json`. */
      get documents() {
        return stdout
          .trimEnd()
          .split('\n')
          .map((text) => JSON.parse(text));
      },
      get document() {
        return JSON.parse(stdout);
      },
    };
  }

  return {
    runctl,
    requests,
    clock,
    baseUrl,
    folder,
    /** The records of the journal, oldest first. */
    journal: () =>
      (existsSync(join(folder, 'journal')) ? readdirSync(join(folder, 'journal')) : [])
        .sort()
        .flatMap((name) => readFileSync(join(folder, 'journal', name), 'utf8').split('\n'))
        .filter((record) => record !== '')
        .map((record) => JSON.parse(record)),
  };
}

async function serve(script: Given, requests: Request[], world: TestWorld): Promise<string> {
  const { trigger = [accepted], status = [completed], result = [output], runs = {} } = script;
  const left: Record<string, Response[]> = {
    trigger: [...trigger],
    status: [...status],
    result: [...result],
  };
  for (const [id, own] of Object.entries(runs)) {
    left[`status ${id}`] = [...(own.status ?? [completed])];
    left[`result ${id}`] = [...(own.result ?? [output])];
  }
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk) => chunks.push(chunk));
    incoming.on('end', () => {
      const { method = '', url: path = '', headers } = incoming;
      const body = Buffer.concat(chunks).toString();
      const request = { method, path, headers, body, atMs: world.clock.nowMs() };
      requests.push(request);
      const endpoint =
        method === 'POST' ? 'trigger' : path.endsWith('/result') ? 'result' : 'status';
      const responses = left[`${endpoint} ${idIn(request)}`] ?? left[endpoint] ?? [];
      const next = responses.length > 1 ? responses.shift() : responses[0];
      next?.(request, response, world);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A clock whose sleepers wake at once, having let its time pass. */
function createTestClock() {
  let nowMs = noonMs;
  let elapsedMs = 0;
  let duringSleep: (() => void) | undefined;
  return {
    nowMs: () => nowMs,
    elapsedMs: () => elapsedMs,
    /** Lets time pass. */
    pass(ms: number) {
      nowMs += ms;
      elapsedMs += ms;
    },
    /** Somebody sets the clock, or the machine sleeps. */
    set(ms: number) {
      nowMs = ms;
    },
    /** Does something while runctl next waits. */
    duringSleep(action: () => void) {
      duringSleep = action;
    },
    async sleep(ms: number, signal: AbortSignal) {
      const untilMs = elapsedMs + ms;
      await new Promise((resolve) => setImmediate(resolve));
      duringSleep?.();
      duringSleep = undefined;
      if (signal.aborted || elapsedMs >= untilMs) return;
      nowMs += untilMs - elapsedMs;
      elapsedMs = untilMs;
    },
  };
}

function createSink(isTTY: boolean, code?: string) {
  let written = '';
  return {
    text: () => written,
    sink: {
      write(text: string) {
        written += text;
      },
      flush: async () => (code ? Object.assign(new Error(code), { code }) : undefined),
      isTTY,
      columns: () => 80,
      hasColors: false,
    },
  };
}

let uuids = 0;
/** Different ones in each command, as of a real machine. */
const createUuids = () => () => `00000000-0000-4000-9000-${String(++uuids).padStart(12, '0')}`;
