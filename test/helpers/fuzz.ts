import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type OutgoingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommandDefinition } from '../../src/cli/define-command.ts';
import { exitCodes } from '../../src/problems/exit-codes.ts';
import { program } from '../../src/program.ts';
import { createLeapingClock } from './leaping-clock.ts';
import { createRandom } from './random.ts';
import { type Ended, runProgram } from './run-program.ts';

const apiKey = 'sk-fuzz-4f1b7c9d2e8a';
const uuid = '00000000-0000-4000-8000-000000000001';
const runId = '6f1c9f5e-3a53-4c1b-9f0a-0d6f2c1f8a11';
// A command is interrupted then, as by Ctrl-C, and has as long again to end.
const patienceMs = 4_000;

/** One case: everything that the program is given. */
interface FuzzCase {
  argv: string[];
  env: Record<string, string>;
  input: string;
  files: Record<string, Buffer>;
  answers: { status: number; headers: OutgoingHttpHeaders; body: Buffer }[];
}

/** Runs the case of one seed and returns what was wrong with it, each in a sentence; an empty list of a good one. */
export async function fuzzOnce(seed: number): Promise<{ argv: string[]; faults: string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'runctl-fuzz-'));
  const given = caseOf(createRandom(seed), folder);
  for (const [path, bytes] of Object.entries(given.files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  }
  const server = createServer((request, response) => {
    const answer = given.answers[Math.min(asked++, given.answers.length - 1)];
    request.resume();
    if (answer) response.writeHead(answer.status, answer.headers).end(answer.body);
    else response.destroy();
  });
  let asked = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const env = { RUNCTL_BASE_URL: `http://127.0.0.1:${port}`, ...given.env };
  const interrupt = new AbortController();
  const timer = setTimeout(() => interrupt.abort('SIGINT'), given.argv[0] === 'emulator' ? 200 : patienceMs);
  let alarm: NodeJS.Timeout | undefined;
  const hung = new Promise<void>((resolve) => {
    alarm = setTimeout(resolve, 2 * patienceMs);
  });
  try {
    const running = runProgram(given.argv, {
      env,
      input: given.input,
      signal: interrupt.signal,
      clock: createLeapingClock(),
    });
    const ended = await Promise.race([running, hung]);
    // A key that stood in the journal before stays there.
    const wasLeaked = given.files['state/journal.jsonl']?.includes(apiKey);
    const journal = ended && !wasLeaked ? journalIn(join(folder, 'state')) : '';
    return { argv: given.argv, faults: ended ? faultsOf(ended, journal, env) : ['it hangs'] };
  } finally {
    clearTimeout(timer);
    clearTimeout(alarm);
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const knownCodes = new Set<number>(exitCodes.map(({ code }) => code));
const unsafe = /(?![\n\t])[\p{Cc}\u202E\u2066\u{E0041}]/u;

function faultsOf({ code, stdout, stderr }: Ended, journal: string, env: Record<string, string>): string[] {
  const all = stdout + stderr;
  const isCommand = (line: string) => /^[\s\u0085]*::(?!error title=)|##\[/.test(line);
  const checks: [boolean, string][] = [
    [code === 70 || !knownCodes.has(code), `it ended with ${code}: ${stderr.slice(0, 500)}`],
    [/\n\s+at .*:\d+/.test(all), `a stack trace: ${all.slice(0, 500)}`],
    // One that stands in a file alone is not known before the file is read.
    [
      env.RUNCTL_API_KEY !== undefined && (stderr + journal).includes(apiKey),
      `the API key is in stderr or in the journal: ${JSON.stringify(stderr.slice(0, 500))}`,
    ],
    [unsafe.test(stderr), `control characters on stderr: ${JSON.stringify(stderr.slice(0, 500))}`],
    [
      env.GITHUB_ACTIONS === 'true' && stderr.split(/[\r\n]/).some(isCommand),
      `a command to the CI runner: ${JSON.stringify(stderr.slice(0, 500))}`,
    ],
  ];
  return checks.flatMap(([isFault, fault]) => (isFault ? [fault] : []));
}

function journalIn(folder: string): string {
  try {
    return readdirSync(folder)
      .flatMap((name) => (name.endsWith('.jsonl') ? readFileSync(join(folder, name), 'utf8') : []))
      .join('\n');
  } catch {
    return '';
  }
}

/** The command lines that lead to a command, and its flags. */
function commandsOf({ commands = [], options = {}, name }: CommandDefinition): { words: string[]; flags: string[] }[] {
  const flags = Object.values(options).flatMap(({ flags }) => flags.match(/--?[\w-]+/g) ?? []);
  const below = commands.flatMap(commandsOf);
  const prefix = name === program.name ? [] : [name];
  return [{ words: prefix, flags }, ...below.map((each) => ({ ...each, words: [...prefix, ...each.words] }))];
}

const commands = commandsOf(program);
// These run what they are given; the words of a case are no commands.
const executing = new Set(['--on-final', '--on-exit']);
const hostile = [
  ...[
    '\u001B[2J',
    '\u0085::add-mask::x',
    '##[group]',
    '\u202E',
    '\u{E0041}',
    '\uD800',
    '\0',
    '\n',
    '\r',
    '\u009B',
    apiKey,
  ],
  ...[
    '__proto__',
    'constructor',
    'toString',
    '{',
    '}',
    '[',
    '"',
    '\\',
    ',',
    ':',
    'null',
    '1e999',
    '-1',
    '9'.repeat(400),
  ],
];
const values = [
  ...['', '0', '-1', '1', '1.5', '5m', '0s', '500ms', '999999999d', 'NaN', 'Infinity', '@last', '-', '--', '.', '..'],
  ...['nightly', `${uuid}/nightly`, `${uuid}/nightly/${runId}`, runId, '6f1c', 'x'.repeat(5_000), 'a,b', 'output.x.0'],
  ...[
    'default',
    'prod',
    'fail',
    'skip',
    'wait',
    'attach',
    'lease_lost',
    'apiKey',
    'baseUrl',
    'bash',
    '12',
    '2026-11-21',
  ],
  ...['happy', 'bad-day', '/dev/null', '/nowhere', 'http://127.0.0.1:9', 'https://x.test/a?b', 'é漢👩‍👩‍👧'],
];

const config = { profile: 'default', profiles: { default: { project: uuid, apiKey: '0123456789abcdef' }, prod: {} } };
const scenario = {
  automations: { '*': { duration: '5s', outcome: ['COMPLETED', 'FAILED'], error: { type: 'a', message: 'b' } } },
  faults: [{ on: 'trigger', from: 1, to: 2, do: 'status', status: 502 }],
};
const execution = {
  executionId: runId,
  projectId: uuid,
  automationName: 'nightly',
  status: 'RUNNING',
  createdAt: '2026-11-21T03:00:00Z',
  startedAt: '2026-11-21T03:00:00Z',
};
const documents = [
  execution,
  { ...execution, status: 'COMPLETED', completedAt: '2026-11-21T03:01:00Z', creditsCharged: 1.5, output: 'done' },
  {
    ...execution,
    status: 'FAILED',
    error: { type: 'step_failed', message: 'no' },
    summary: { stepCount: 3, failedSteps: 1 },
  },
  { code: 'runAlreadyActive', message: 'already', executionId: runId },
];
const target = { family: 'automation', projectId: uuid, automationName: 'nightly' };

function caseOf(random: () => number, folder: string): FuzzCase {
  const below = (limit: number) => Math.floor(random() * limit);
  const oneOf = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  const several = <T>(most: number, make: () => T) => Array.from({ length: below(most + 1) }, make);
  const isOften = () => random() < 0.8;
  const word = () => (isOften() ? oneOf(values) : `${oneOf(values).slice(0, 20)}${oneOf(hostile)}${oneOf(hostile)}`);

  /** The JSON of a document, whole, with a value in the place of another, or with other bytes. */
  function bytesOf(document: unknown): Buffer {
    const text = JSON.stringify(document, (_, value) =>
      random() < 0.06 ? oneOf<unknown>([null, 0, -1, 1e300, [], {}, true, word(), '', [value], { a: value }]) : value,
    );
    if (isOften()) return Buffer.from(text ?? 'null');
    return mutated(Buffer.from(text ?? ''));
  }
  function mutated(bytes: Buffer): Buffer {
    const at = below(bytes.length + 1);
    return oneOf([
      () => Buffer.from(bytes.subarray(0, at)),
      () => Buffer.concat([bytes.subarray(0, at), Buffer.from(oneOf(hostile)), bytes.subarray(at)]),
      () => Buffer.concat([bytes.subarray(0, at), Buffer.from(several(40, () => below(256))), bytes.subarray(at)]),
      () => Buffer.concat([bytes, bytes]),
      () => Buffer.alloc(below(5_000)),
      () => Buffer.from('['.repeat(below(20_000))),
    ])();
  }
  const line = () => {
    const common = { schema: 1, at: '2026-11-21T03:00:00.000Z', baseUrl: 'http://127.0.0.1:9', target };
    const keyed = { ...common, idempotencyKey: runId, attempt: runId, account: 'c0ffee00', body: '{}' };
    return oneOf([
      { ...keyed, type: 'triggered', userProvided: false, first: true },
      { ...keyed, ...execution, type: 'accepted', first: true },
      { ...common, ...oneOf(documents), type: 'status' },
    ]);
  };

  const command = oneOf(commands);
  const files = {
    'state/journal.jsonl': Buffer.concat(several(6, () => Buffer.concat([bytesOf(line()), Buffer.from('\n')]))),
    'config/config.json': bytesOf(config),
    'scenario.json': bytesOf(scenario),
    key: isOften() ? Buffer.from(`${apiKey}\n`) : mutated(Buffer.from(apiKey)),
  };
  const flags = several(4, () => [oneOf(command.flags), ...(isOften() ? [word()] : [])]).flatMap(([flag, ...rest]) =>
    flag === undefined || executing.has(flag)
      ? []
      : flag === '--scenario'
        ? [flag, join(folder, 'scenario.json')]
        : [flag, ...rest],
  );
  // Half of the command lines are good ones, to get behind the parser.
  const run = oneOf(['nightly', '@last', runId, `${uuid}/nightly/${runId}`]);
  const argv =
    random() < 0.5 ? [...command.words, run, '--timeout', '1m'] : [...command.words, ...flags, ...several(3, word)];
  // The emulator runs the words that it is given.
  const isEmulator = command.words[0] === 'emulator';
  return {
    argv: isEmulator ? ['emulator', '--scenario', join(folder, 'scenario.json')] : argv,
    env: {
      RUNCTL_STATE_DIR: join(folder, 'state'),
      RUNCTL_CONFIG_DIR: join(folder, 'config'),
      RUNCTL_PROJECT: uuid,
      RUNCTL_REQUEST_TIMEOUT: '500ms',
      ...(isOften() ? { RUNCTL_API_KEY: apiKey } : { RUNCTL_API_KEY_FILE: join(folder, 'key') }),
      ...(isOften() ? {} : { [oneOf(['RUNCTL_PROJECT', 'RUNCTL_PROFILE', 'RUNCTL_BASE_URL', 'HTTPS_PROXY'])]: word() }),
      ...(isOften() ? {} : { GITHUB_ACTIONS: 'true' }),
    },
    input: several(3, word).join('\n'),
    files,
    answers: several(6, () => ({
      status: isOften() ? oneOf([200, 201, 200, 422]) : oneOf([204, 302, 400, 401, 402, 404, 409, 429, 500, 503]),
      headers: isOften() ? {} : { 'retry-after': oneOf(['1', '-1', '9'.repeat(99), 'soon']), location: '/x' },
      body: bytesOf(oneOf(documents)),
    })),
  };
}
