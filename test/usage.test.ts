// How runs are named, flags are typed, and output is asked for.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createEmulatedService, respond } from '../src/emulator/service.ts';
import {
  accepted,
  acceptedAs,
  alreadyActive,
  completed,
  connectionLost,
  executionId,
  failed,
  fullPath,
  given,
  interrupting,
  json,
  noonMs,
  otherId,
  projectId,
  resultOf,
  running,
  statusOf,
} from './given.ts';

const otherProjectId = '00000000-0000-4000-8000-000000000002';

/** `nightly` has the run `executionId`, and then another automation has another run. */
async function givenTwoRuns(second = { name: 'export', id: otherId }) {
  const { name, id } = second;
  const world = await given({ trigger: [accepted, acceptedAs(id)], runs: { [id]: {} } });
  await world.runctl('trigger nightly');
  await world.runctl(`trigger ${name}`);
  world.requests.length = 0;
  return world;
}

describe('a run', () => {
  test.each([
    ['an automation', 'nightly', executionId],
    ['an automation with its project', `${projectId}/nightly`, executionId],
    ['an executionId', executionId, executionId],
    ['an executionId in capitals', executionId.toUpperCase(), executionId],
    ['the beginning of one', '4b7c', executionId],
    ['the beginning of one in capitals', '842520F2-3', otherId],
    ['@', '@', otherId],
    ['@last', '@last', otherId],
    ['a full path', fullPath.toUpperCase().replace('NIGHTLY', 'nightly'), executionId],
  ])('is named by %s', async (_, name, id) => {
    const { runctl, requests } = await givenTwoRuns();

    for (const command of ['status', 'watch', 'result']) {
      expect((await runctl(`${command} ${name}`)).exitCode).toBe(0);
    }
    for (const { path } of requests) expect(path).toContain(`/executions/${id}`);
    expect(requests).toHaveLength(5);
  });

  test('is named by a full path on any machine', async () => {
    const { runctl, requests } = await given();

    await runctl(`status '${otherProjectId}/a name/x/${executionId}'`);

    const path = `/v0/automation/${otherProjectId}/a%20name%2Fx/executions/${executionId}`;
    expect(requests[0]?.path).toBe(path);
  });

  test('is the last one that was triggered here, not one that was watched since', async () => {
    const { runctl, requests } = await given({ runs: { [otherId]: {} } });
    await runctl('trigger nightly');
    await runctl(`watch ${projectId}/nightly/${otherId}`);
    requests.length = 0;

    await runctl('status nightly');

    expect(requests[0]?.path).toContain(executionId);
  });

  test('that was only watched is named by its automation', async () => {
    const { runctl } = await given({ status: [running, completed] });
    await runctl(`status ${fullPath}`);

    expect((await runctl('status nightly --field executionId')).stdout).toBe(`${executionId}\n`);
  });

  test('is named by its automation before it is named by an id', async () => {
    const { runctl, requests } = await givenTwoRuns({ name: '4b7c', id: otherId });

    await runctl('status 4b7c');

    expect(requests[0]?.path).toContain(`/4b7c/executions/${otherId}`);
  });

  test('is named by its id without a project', async () => {
    const { runctl } = await givenTwoRuns();

    expect((await runctl('status 4b7c', { RUNCTL_PROJECT: '' })).exitCode).toBe(0);
  });

  test('that is named ambiguously is 2', async () => {
    const twin = executionId.replace(/.$/, '5');
    const { runctl, requests } = await givenTwoRuns({ name: 'export', id: twin });

    const { exitCode, stderr } = await runctl(`status ${executionId.slice(0, 35)}`);

    expect(exitCode).toBe(2);
    expect(stderr).toContain('beginning of several run ids');
    expect(requests).toEqual([]);
  });

  test.each([
    'unheard-of',
    '4b7', // too short
    '7c19', // not the beginning
    `${otherProjectId}/nightly`,
    otherId.replace('8', '9'),
  ])('that this machine does not know is 6 (%s)', async (name) => {
    const { runctl, requests } = await givenTwoRuns();
    const empty = await given();

    for (const run of [name, '@', '@last', executionId]) {
      expect((await empty.runctl(`status ${run}`)).exitCode).toBe(6);
    }
    for (const command of ['status', 'watch', 'result']) {
      const { exitCode, document } = await runctl(`${command} ${name} --json`);
      expect(exitCode).toBe(6);
      expect(document).toMatchObject({ executionId: null, runctl: { outcome: 'not_found' } });
    }
    expect(requests).toEqual([]);
  });

  test.each(['nightly', '@', `${projectId}/nightly`])(
    'that may have started since is 12, not the run before it (%s)',
    async (name) => {
      const { runctl, requests } = await given({ trigger: [accepted, connectionLost] });
      await runctl('trigger nightly');
      await runctl('trigger nightly --give-up-after 0');
      requests.length = 0;

      for (const command of ['status', 'watch', 'result']) {
        const { exitCode, stderr, document } = await runctl(`${command} ${name} --json`);
        expect(exitCode).toBe(12);
        expect(document.runctl).toMatchObject({ outcome: 'outcome_unknown', exitCode: 12 });
        expect(stderr).toMatch(/runctl recover (\S+\/)?nightly/);
      }
      expect(requests).toEqual([]);
      expect((await runctl(`status ${executionId}`)).exitCode).toBe(0);
    },
  );

  test('is 12 by its name and @ if there is nothing but an unknown trigger', async () => {
    const { runctl } = await given({ trigger: [connectionLost, accepted] });
    await runctl('trigger import --give-up-after 0');

    expect((await runctl('watch import')).exitCode).toBe(12);
    expect((await runctl('watch @')).exitCode).toBe(12);
    await runctl('trigger nightly');
    expect((await runctl('watch import')).exitCode).toBe(12);
    expect((await runctl('watch @')).exitCode).toBe(0);
  });

  test('is the one before a trigger that started none, and a note says so', async () => {
    const { runctl, requests } = await given({ trigger: [accepted, alreadyActive] });
    await runctl('trigger nightly');
    await runctl('trigger nightly');
    requests.length = 0;

    for (const name of ['nightly', '@']) {
      const { exitCode, stderr } = await runctl(`status ${name}`);
      expect(exitCode).toBe(0);
      expect(stderr).toMatch(/started no run \(it is already running\)/);
      expect((await runctl(`status ${name} --quiet`)).stderr).toBe('');
    }
    for (const { path } of requests) expect(path).toContain(executionId);
  });

  test('that only an unreadable journal can name is 74, and a full path needs none', async () => {
    const { runctl, folder } = await given();
    writeFileSync(join(folder, 'journal'), 'not a folder');

    for (const name of ['nightly', '@', '4b7c']) {
      const { exitCode, document } = await runctl(`status ${name} --json`);
      expect(exitCode).toBe(74);
      expect(document.runctl.outcome).toBe('io_error');
    }
    const { exitCode, stderr } = await runctl(`watch ${fullPath}`);
    expect(exitCode).toBe(0);
    expect(stderr.match(/warning/g)).toHaveLength(1);
  });
});

describe('wrong usage', () => {
  test.each([
    ['staus nightly', 'status'],
    ['lst', 'list'],
    ['config lst', 'list'],
    ['agent triger x', 'trigger'],
    ['help staus', 'status'],
    ['help bogus', 'exit-codes'],
    ['help trigger bogus', 'no help on "bogus"'],
    ['list --staus FAILED', '--status'],
    ['watch nightly --tiemout 5m', '--timeout'],
    ['list --status BROKEN', 'TIMED_OUT'],
    ['list --since yesterday', '2d'],
    ['list --since 2026-02-30', '2d'],
    ['list --since 24:00', '07:30'],
    ['list --since 12:60', '07:30'],
    ['list -n 0', '1'],
    ['list --limit 1.5', '1'],
    ['trigger nightly --if-active maybe', 'skip'],
    ['completion tcsh', 'zsh'],
    ['watch nightly --timeout 5', '5m'],
    ['watch nightly --timeout 5x', '30s'],
    ['watch nightly --timeout 25d', '24d'],
    ['watch nightly --interval 500ms', '1s'],
    ['status nightly --give-up-after 10', '10s'],
    ['trigger nightly --idempotency-key ä', 'ASCII'],
    ['trigger nightly --idempotency-key --watch', '--idempotency-key'],
    ['trigger nightly --idempotency-key -x', '--idempotency-key'],
    ['list -n -5', '-n'],
    ['watch nightly --timeout', '--timeout'],
    ['status nightly --field', '--field'],
    ['status nightly --json=yes', '--json'],
    ['trigger', 'automation'],
    ['status', 'run'],
    ['result', 'run'],
    ['watch', '--all'],
    ['watch nightly --all', '--all'],
    ['status nightly export', 'argument'],
    ['list nightly export', 'argument'],
    ['agent', 'command'],
    ['--quiet', 'command'],
    ["status ''", 'empty'],
    ["list ''", 'empty'],
    ['status nightly --project eu', 'UUID'],
    ['watch eu/nightly', 'UUID'],
    ['trigger nightly nightly', 'twice'],
    ['trigger nightly export --idempotency-key k', 'one automation'],
  ])('`%s` is 2, names %s, and sends nothing', async (line, hint) => {
    const { runctl, requests, journal } = await given();

    const { exitCode, stdout, stderr } = await runctl(line);
    const { document } = await runctl(`${line} --json`.replace('--field --json', '--json --field'));

    expect(exitCode).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^runctl: \S/);
    expect(stderr).toContain(hint);
    expect(document).toMatchObject({
      executionId: null,
      runctl: { schema: 1, outcome: 'usage', exitCode: 2, error: { httpStatus: null } },
    });
    expect(document.runctl.error.message).toContain(hint);
    expect(requests).toEqual([]);
    expect(journal()).toEqual([]);
  });

  test.each([
    ['trigger', 'missing argument <automation>'],
    ['start nightly', "unknown command 'start': did you mean trigger?"],
    ['cancel nightly', "unknown command 'cancel': the service can't cancel a run"],
    [
      'status nightly --give-up-after 5',
      '--give-up-after 5 is invalid. It needs a unit: 5s or 5m?',
    ],
    ['lsit', "unknown command 'lsit': did you mean list?"],
    ['list --quite', "unknown flag '--quite': did you mean --quiet?"],
    ['status --json=yes', "unknown flag '--json=…'"],
    ['watch nightly --timeout', "flag '--timeout <duration>' argument missing"],
    ['agent', 'agent needs a command'],
    ['--quiet', 'needs a command'],
  ])('`%s` is said in a sentence, the same in JSON', async (line, sentence) => {
    const { runctl } = await given();

    const { stderr } = await runctl(line);
    const { document } = await runctl(`--json ${line}`);

    expect(stderr).toContain(`runctl: ${sentence}\n  → runctl help`);
    expect(document.runctl.error.message).toBe(sentence);
  });

  test('names its command in the document, and does not repeat what may be a secret', async () => {
    const { runctl } = await given();

    const { document, stderr } = await runctl('--json ls --api-key=sk-live-abc');
    const field = await runctl('trigger --field=runctl.outcome');
    const word = await runctl('config sk-live-abc');

    expect(document.runctl).toMatchObject({ command: 'list', next: 'runctl help list' });
    expect(stderr + word.stderr).not.toContain('sk-live');
    expect(field.stdout).toBe('usage\n');
  });

  test('bare runctl prints its help on stderr: 2', async () => {
    const { runctl } = await given();

    const { exitCode, stdout, stderr } = await runctl('');

    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toBe((await runctl('--help')).stdout);
  });
});

test.each([
  ['help', ['trigger', 'watch', 'runctl emulator --']],
  ['trigger --help', ['--if-active', 'Examples']],
  ['help agent status', ['<executionId>']],
  ['-q status -h', ['--exit-status']],
  ['help config set', ['runctl config set', 'apiKey']],
  ['help exit-codes', ['outcome_unknown', '130', '141']],
  ['--json --version', [/^\d+\.\d+\.\d+/]],
])('`%s` prints help on stdout: 0', async (line, hints) => {
  const { runctl } = await given({ env: { RUNCTL_BASE_URL: '', RUNCTL_API_KEY: '' } });

  const { exitCode, stdout, stderr } = await runctl(line);

  expect([exitCode, stderr]).toEqual([0, '']);
  for (const hint of hints) expect(stdout).toMatch(hint);
});

test('the help of each command fits a screen, and names its flags before the common ones', async () => {
  const { runctl } = await given();
  const { stdout: help } = await runctl('help');
  const commands = [...help.matchAll(/^ {2}(\w+).* {2,}/gm)].map(([, name]) => `help ${name}`);
  expect(commands).toHaveLength(12);

  for (const line of ['help', 'help exit-codes', 'help flags', ...commands]) {
    const { stdout } = await runctl(line);
    const rows = stdout.trimEnd().split('\n');
    expect(rows.length, line).toBeLessThanOrEqual(32);
    expect(Math.max(...rows.map((row) => row.length)), line).toBeLessThanOrEqual(80);
  }
  const { stdout } = await runctl('help trigger');
  expect(stdout).toMatch(
    /--watch.*Common flags.*--json.*\n\nExamples:\n( {2}runctl trigger [^\n]*\n)+$/s,
  );
});

test('common flags stand before or after the command', async () => {
  const { runctl } = await given();
  const common = `--json --quiet --no-color --debug --project ${projectId}`;

  const before = await runctl(`${common} status ${fullPath}`);
  const after = await runctl(`status ${fullPath} ${common}`);

  expect(before.document).toMatchObject({ executionId, status: 'COMPLETED' });
  expect(after.stdout).toBe(before.stdout);
  expect(before.stderr).toContain('/v0/automation/');
  const last = await runctl(`--field status status ${fullPath} --field executionId`);
  expect(last.stdout).toBe(`${executionId}\n`);
  expect(await runctl(`--field status status ${fullPath}`)).toMatchObject({
    stdout: 'COMPLETED\n',
  });
});

test('what stands behind -- is the command of the emulator', async () => {
  const { runctl } = await given();

  const line = "emulator -q -- /bin/sh -c 'exit 3' --timeout -x";

  expect((await runctl(line)).exitCode).toBe(3);
});

test('the emulator takes ids in capitals', () => {
  const service = createEmulatedService({ '*': {} }, 'key', 1);
  const url = '/v0/automation/ABCDEF00-0000-4000-8000-00000000000A/nightly/trigger';
  const request = { method: 'POST', url, apiKey: 'key', idempotencyKey: 'k', atMs: noonMs };
  expect(respond(service, request).reply.status).toBe(201);
});

describe('--json', () => {
  test("prints the service's fields as they came, the result's over them, and runctl", async () => {
    const { runctl } = await given({
      status: [
        statusOf('COMPLETED', { region: 'eu', creditsCharged: 1.5, error: 'of the status' }),
      ],
      result: [resultOf('COMPLETED', { steps: [{ name: 'Send' }] })],
    });

    const { stdout, document } = await runctl(`watch ${fullPath} --json`);

    expect(stdout.match(/\n/g)).toHaveLength(1);
    expect(document).toEqual({
      executionId,
      projectId,
      automationName: 'nightly',
      title: null,
      message: null,
      status: 'COMPLETED',
      startedAt: '2026-11-28T12:00:00.000Z',
      createdAt: '2026-11-28T12:00:00.000Z',
      completedAt: '2026-11-28T12:05:02.000Z',
      creditsCharged: 1.5,
      region: 'eu',
      steps: [{ name: 'Send' }],
      output: 'The report was sent to 3 people.',
      summary: { stepCount: 3, succeededSteps: 3, failedSteps: 0, skippedSteps: 0 },
      error: null,
      runctl: {
        schema: 1,
        command: 'watch',
        outcome: 'ok',
        exitCode: 0,
        next: null,
        warnings: [],
        durationMs: 302_000,
      },
    });
  });
});

describe('--field', () => {
  test('that no document has is an empty line and a note', async () => {
    const { runctl } = await given();

    const { exitCode, stdout, stderr } = await runctl(`status ${fullPath} --field bogus.deep`);

    expect([exitCode, stdout]).toEqual([0, '\n']);
    expect(stderr).toContain('bogus.deep');
    expect((await runctl(`status ${fullPath} --field bogus --quiet`)).stderr).toBe('');
  });

  test('prints a line for each argument, in order', async () => {
    const { runctl } = await givenTwoRuns();

    const { stdout } = await runctl('watch export nightly --field executionId');

    expect(stdout).toBe(`${otherId}\n${executionId}\n`);
  });
});

describe('--quiet', () => {
  test.each([
    ['drops the summary and the progress of a run that completed', 'watch @', ''],
    ['keeps an output', 'result @', 'The report was sent to 3 people.'],
    ['keeps a status', 'status @ --field status', 'COMPLETED\n'],
    ['keeps the id of a trigger', 'trigger nightly', `${executionId}\n`],
    ['keeps rows', 'list --json --field executionId -n 1', expect.stringContaining(executionId)],
  ])('%s', async (_, line, out) => {
    const { runctl } = await given();
    await runctl('trigger nightly');

    const { stdout, stderr } = await runctl(`${line} -q`);

    expect(stdout).toEqual(out);
    expect(stderr).toBe('');
  });

  test('keeps the summary of a run that failed, failures and warnings', async () => {
    const { runctl } = await given({
      trigger: [accepted, alreadyActive],
      status: [failed],
      result: [resultOf('COMPLETED')],
    });

    const watched = await runctl('trigger nightly --watch --quiet');
    const refused = await runctl('trigger nightly --quiet');

    expect(watched.stdout).toMatch(/nightly FAILED/);
    expect(watched.stderr).toMatch(/^runctl: warning: .*COMPLETED.*\n$/);
    expect(refused.stderr).toMatch(/nightly wasn't started/);
  });
});

describe('doctor', () => {
  const date = new Date(noonMs).toUTCString();
  const notFoundRun = json(404, { code: 'notFound' }, { date });
  const key = { code: 'unauthorized', message: 'The key has expired' };

  test('has a line for each check', async () => {
    const { runctl, baseUrl } = await given({ status: [notFoundRun] });

    const { exitCode, stdout, stderr } = await runctl('doctor');

    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout.replace(/\d+ ms/, '5 ms')).toBe(`\
✔ settings    profile default: ${baseUrl}, project 00000000…
✔ connection  ${baseUrl.slice(7)} answered in 5 ms
✔ API key     …4056 in RUNCTL_API_KEY wasn't refused
✔ journal     empty
`);
  });

  test.each([
    [5, /5m ahead of/],
    [-5, /5m behind/],
    [1, /^$/],
  ])('warns of a clock that is %i minutes off', async (minutes, words) => {
    const { runctl, clock } = await given({ status: [notFoundRun] });
    clock.set(noonMs + minutes * 60_000);
    expect((await runctl('doctor')).stderr).toMatch(words);
  });

  test('says what failed once, and exits with its code', async () => {
    const { runctl } = await given({ status: [json(401, key)] });

    const { exitCode, stdout, stderr } = await runctl('doctor');
    const { document } = await runctl('doctor --json');

    const reason = 'refused: The key has expired (HTTP 401 unauthorized); replace …4056';
    expect([exitCode, stderr]).toEqual([7, '']);
    expect(stdout).toContain(`✖ API key     ${reason}`);
    expect(document.runctl).toMatchObject({ outcome: 'unauthorized', exitCode: 7 });
    expect(document.runctl.error.message).toContain(`API key: ${reason}`);
  });

  test.each([{ RUNCTL_STATE_DIR: 'state' }, { RUNCTL_IDEMPOTENCY_KEYS: 'maybe' }])(
    'fails with %j, as trigger does',
    async (env) => {
      const { runctl } = await given({ status: [notFoundRun], env });
      expect((await runctl('trigger nightly')).exitCode).toBe(2);
      expect((await runctl('doctor')).exitCode).toBe(2);
    },
  );

  test('names all settings that are missing, and the command that asks for them', async () => {
    const env = { RUNCTL_BASE_URL: '', RUNCTL_API_KEY: '', RUNCTL_PROJECT: '' };
    const { runctl, requests } = await given({ env });

    const { exitCode, stdout, stderr } = await runctl('doctor');

    expect([exitCode, requests]).toEqual([2, []]);
    expect(stdout).toMatch(/^✖ settings +not set: base URL .*, API key .*, project .*\n✔ journal/);
    expect(stderr).toMatch(/^ {2}→ .*runctl config\n$/);
  });
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s ends agent trigger with %i', async (signal, code) => {
  const { runctl } = await given({ trigger: [interrupting(signal)] });
  const { exitCode, stderr } = await runctl(`agent trigger ${projectId}`);
  expect(exitCode).toBe(code);
  expect(stderr).toContain('may have been triggered');
});

test('an empty list says on a terminal what comes next', async () => {
  const { runctl } = await given({ isTTY: true });
  const unset = { RUNCTL_BASE_URL: '', RUNCTL_API_KEY: '' };

  expect((await runctl('list')).stderr).toMatch(/next: runctl trigger/);
  expect((await runctl('list', unset)).stderr).toMatch(/next: runctl config/);
  expect((await runctl('list --quiet')).stderr).toBe('');
});
