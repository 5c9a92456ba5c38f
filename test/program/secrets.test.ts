// No byte of the API key or of a proxy's password in anything the program writes, whatever the service does.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/process.ts';
import { encodings } from '../helpers/encodings.ts';
import { environment, key, leaked, patience, written } from '../helpers/leaks.ts';
import { createLeapingClock } from '../helpers/leaping-clock.ts';
import { withMachine } from '../helpers/machine.ts';
import { mapConcurrently } from '../helpers/map-concurrently.ts';
import { runProgram } from '../helpers/run-program.ts';
import { executionId, projectId } from '../helpers/scripted-service.ts';
import { answer, type ServerFault, serverFaults, startFaultyService } from '../helpers/server-faults.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const run = `${projectId}/nightly/${executionId}`;

test('nothing is leaked under any fault of a service, with --debug', async () => {
  const leaks = await mapConcurrently(Object.entries(serverFaults), async ([name, fault]) => {
    const service = await startFaultyService(() => fault);
    const env = environment(service.env);
    const ended = await runProgram(['trigger', 'nightly', '--debug', ...patience], {
      env,
      clock: createLeapingClock(),
    });
    expect(ended.stderr).toContain('debug: #1 POST');
    return [name, leaked(written(ended, env))];
  });
  expect(leaks.filter(([, spelt]) => spelt?.length)).toEqual([]);
}, 60_000);

describe('a service that gives the key back in every spelling and every place', () => {
  const echoes = Object.values(encodings).map((encode) => encode(key));
  const inHeader = echoes.filter((echo) => /^[\x20-\x7e]*$/.test(echo)).join(' ');
  const header = ['x-request-id', 'location', 'server', 'retry-after', 'content-type']
    .map((name) => `${name}: ${name === 'location' ? 'https://elsewhere.test/' : ''}${inHeader}`)
    .join('\r\n');
  const words = echoes.join(' and ');
  const page = `<html><body><p>runAlreadyActive: the key ${words} is bad</body></html>`;
  const fields = { code: 'runAlreadyActive', message: words, detail: words, title: words };
  // The message is cut after 300 characters, here in the middle of the key.
  const atTheCut = { message: `${'x'.repeat(290)}${key}` };
  const answers: [string, ServerFault][] = [
    ['302', answer(302, '', header)],
    ['400', answer(400, JSON.stringify(fields), header)],
    ['401', answer(401, JSON.stringify({ error: echoes[0] }), header)],
    ['402, cut', answer(402, JSON.stringify(atTheCut), header)],
    ['422', answer(422, JSON.stringify(fields), header)],
    ['422, page', answer(422, page, header)],
    ['429', answer(429, JSON.stringify(fields), header)],
    ['500', answer(500, JSON.stringify(fields), header)],
    ['500, cut', answer(500, `${'x'.repeat(290)}${key}`, header)],
    ['200', answer(200, words, header)],
    ['no HTTP', (socket) => socket.end(`HTTP/1.1 ${words}\r\n${words}\r\n\r\n`)],
    ['another coding', answer(200, '{}', `content-encoding: ${inHeader}`)],
  ];
  const commands = [
    ['trigger', 'nightly', '--json', '--debug', ...patience],
    ['watch', run, '--json', '--debug', '--interval', '20ms', ...patience],
    ['result', run, ...patience],
  ];

  test.each(commands)('is not quoted by `%s`', async (...args) => {
    const leaks = await mapConcurrently(answers, async ([name, fault]) => {
      const { env: settings } = await startFaultyService(() => fault);
      const env = environment(settings);
      const ended = await runProgram(args, { env, clock: createLeapingClock() });
      expect(ended.code).not.toBe(0);
      const text = written(ended, env);
      // Of a key that is cut not even a part is left.
      return [name, leaked(text), text.includes('sk-"') || text.includes('sk-\\"')];
    });
    expect(leaks).toEqual(answers.map(([name]) => [name, [], false]));
  });
});

describe('a service that gives the key in every field of a document', () => {
  const fields = { title: key, message: `use ${key}`, error: { type: key, message: `the key ${key} was refused` } };
  const follow = '--watch --timeout 1m';

  test.each([
    'trigger nightly',
    `trigger nightly ${follow}`,
    `watch ${run} --timeout 1m`,
    `status ${run}`,
    `result ${run}`,
    `agent trigger ${executionId}`,
    `agent status ${executionId} ${executionId}`,
  ])('does not get it onto the screen or into the journal: `%s`', async (line) => {
    for (const status of [`RUNNING ${key}`, 'FAILED']) {
      const document = { executionId, projectId, automationName: 'nightly', ...fields, status };
      const { env: settings } = await startFaultyService(() => answer(200, JSON.stringify(document)));
      const env = environment(settings);
      const type = (words: string) => runProgram(words.split(' '), { env, clock: createLeapingClock() });
      const shown = await type(`${line} --debug`);
      const listed = await type('list --offline');
      expect([status, leaked(written(shown, env) + listed.stdout + listed.stderr)]).toEqual([status, []]);
      expect(/\[secret\]/.test(shown.stdout + shown.stderr)).toBe(!/^(agent )?trigger [^ ]*$/.test(line));
    }
  });
});

describe('the key', () => {
  test('is shown by `config` as its last four characters only', async () => {
    const env = { ...environment(), RUNCTL_API_KEY: '' };
    const set = await runProgram(['config', 'set', 'apiKey'], { env, input: `${key}\n` });
    expect([set.code, leaked(set.stdout + set.stderr)]).toEqual([0, []]);
    for (const line of ['list', 'list --json', 'get apiKey', 'get apiKey --json', 'unset apiKey']) {
      const { stdout, stderr } = await runProgram(['config', ...line.split(' ')], { env });
      expect(leaked(stdout + stderr)).toEqual([]);
      expect(stdout.includes('****9xyz')).toBe(line !== 'unset apiKey');
    }
  });

  test('is in the environment of --on-final only if it was in that of runctl, and never in the printed output', async () => {
    const machine = await withMachine({ automations: { '*': { duration: '1ms' } } }, { apiKey: key });
    const folder = temporaryFolder();
    const [file, received] = [join(folder, 'key'), join(folder, 'received')];
    writeFileSync(file, key);
    const hook = `env > '${received}'; cat >> '${received}'; cat '${file}' >&2`;
    const line = 'trigger nightly --watch --interval 20ms'.split(' ');
    const options = { env: { RUNCTL_API_KEY: undefined, PATH: process.env.PATH }, clock: systemClock };
    const { code, stdout, stderr } = await machine.run([...line, '--api-key-file', file, '--on-final', hook], options);
    const text = readFileSync(received, 'utf8');
    expect([code, text]).toEqual([0, expect.stringContaining('RUNCTL_STATUS=COMPLETED')]);
    expect(leaked(text + stdout + stderr)).toEqual([]);
  });

  test.each<[string, string[], Record<string, string>]>([
    ['given as a flag that does not exist', ['status', `--api-key=${key}`], {}],
    ['with a line break in it', ['status', '@last'], { RUNCTL_API_KEY: `${key}\n${key}` }],
    ['with a character that no header carries', ['status', '@last'], { RUNCTL_API_KEY: `${key}\u{1F511}` }],
    ['in the base URL', ['status', '@last'], { RUNCTL_BASE_URL: `https://user:${encodeURIComponent(key)}@x.test` }],
    [
      'in a proxy address',
      ['status', executionId],
      { RUNCTL_BASE_URL: 'https://service.test', HTTPS_PROXY: `socks5://u:${encodeURIComponent(key)}@x` },
    ],
  ])('%s is refused without being shown', async (_, args, env) => {
    const ended = await runProgram([...args, '--json'], { env: environment({ ...atNowhere, ...env }) });
    expect(ended.code).toBe(2);
    expect(leaked(ended.stdout + ended.stderr)).toEqual([]);
  });
  const atNowhere = { RUNCTL_BASE_URL: 'http://127.0.0.1:9' };
});

test('a warning that names a folder with the key in its name does not show it in the document', async () => {
  const folder = `/dev/null/${key.replaceAll('/', '')}`;
  const machine = await withMachine({}, { apiKey: key.replaceAll('/', '') });
  const { documents } = await machine.run('trigger nightly --json', { env: { RUNCTL_STATE_DIR: folder } });
  const said = JSON.stringify(documents[0].runctl.warnings);
  expect([said.includes('[secret]'), leaked(said), said.includes(key.slice(-8))]).toEqual([true, [], false]);
});

describe('an API key that would be sent in a URL, or recorded, is refused before anything is', () => {
  const long = 'sk-live-0123456789abcdef';
  const full = `${projectId}/x${long}/${executionId}`;
  const agent = ['agent', 'trigger', executionId];
  const ofVariable = { RUNCTL_API_KEY: long };
  const ofCommand = { RUNCTL_API_KEY_COMMAND: `echo ${long}` };
  test.each<[string, string[], Record<string, string>, string?]>([
    ['the name of an automation', ['trigger', `x${long}`], ofVariable],
    ['the second of two names', ['trigger', 'nightly', `x${long}`], ofVariable],
    ['a name, where a command prints the API key', ['trigger', long], ofCommand],
    ['a name, where a file holds another API key', ['trigger', long, '--api-key-file', '-'], ofVariable, 'other-key'],
    [
      'the base URL, where a command prints the API key',
      ['trigger', 'nightly'],
      { ...ofCommand, RUNCTL_BASE_URL: `http://127.0.0.1:9/${long}` },
    ],
    ['an idempotency key', ['trigger', 'nightly', '--idempotency-key', `k-${long}`], ofVariable],
    ['the message of an agent', [...agent, '--message', `use ${long}`], ofVariable],
    ['the automation of a run', ['status', `${long}/${executionId}`], ofVariable],
    ['a run', ['watch', full], ofVariable],
    ['a run of standard input', ['watch', '-'], ofVariable, `${full}\n`],
  ])('%s', async (_, args, env, input) => {
    const machine = await withMachine({}, { apiKey: long });
    const own = { RUNCTL_API_KEY: '', PATH: process.env.PATH ?? '', ...env };
    const ended = await machine.run([...args, '--json'], { env: own, input, clock: systemClock });
    expect(ended.code, ended.stderr).toBe(2);
    expect(machine.emulator.requests).toEqual([]);
    expect(written(ended, { RUNCTL_STATE_DIR: '', ...machine.env })).not.toContain(long);
  });
});

describe('an API key in a wrong place is not repeated', () => {
  const misplaced = 'sk-live-0123456789abcdef';

  const lines: [argv: string[], variables?: Record<string, string>][] = [
    [['status', '@last', '--api-key-file', misplaced]],
    [['status', '@last'], { RUNCTL_API_KEY_FILE: misplaced }],
    [['status', '@last'], { RUNCTL_API_KEY_FILE: `eyJhbGciOiJIUzI1NiJ9.${misplaced}` }],
    [['config', 'list'], { RUNCTL_API_KEY_FILE: 'sk-short' }],
    [['config', 'get', misplaced]],
    [['config', 'set', misplaced, 'x']],
    [['config', 'set', 'apiKey', misplaced]],
    [['config', 'set', 'baseUrl', misplaced]],
    [['config', 'set', 'profile', misplaced]],
    [['explain', misplaced]],
    [['completion', misplaced]],
    [['list', '--profile', misplaced]],
    [['list', '--limit', misplaced]],
    [['status', `--api-key=${misplaced}`]],
    [[`--${misplaced}`]],
    [[misplaced]],
    [['help', misplaced]],
    [['trigger', 'nightly', '--idempotency-key', `${misplaced} x`]],
    [['watch', '@last', '--timeout', misplaced]],
    [['emulator', '--scenario', misplaced]],
    [['status', '@last', '--field', misplaced]],
    [['status', misplaced]],
  ];

  test('by any command', async () => {
    const faults: unknown[] = [];
    for (const [args, variables = {}] of lines) {
      const { RUNCTL_API_KEY: _, ...env } = environment({ RUNCTL_BASE_URL: 'http://127.0.0.1:9', ...variables });
      for (const json of args[0]?.startsWith('-') ? [[]] : [[], ['--json']]) {
        const { stdout, stderr, code } = await runProgram([...args, ...json], { env });
        const isRepeated = /0123456789abcdef|sk-short/.test(stdout + stderr);
        if (isRepeated || code !== (args[1] === 'list' ? 0 : 2)) faults.push({ args, json, code, stdout, stderr });
      }
    }
    expect(faults).toEqual([]);
  });

  test('and an API key in the environment is hidden from the start, whatever it looks like', async () => {
    for (const args of [['explain', 'short-key'], ['--short-key'], ['config', 'get', 'short-key']]) {
      const { stdout, stderr } = await runProgram(args, { env: { RUNCTL_API_KEY: ' short-key\n' } });
      expect(stdout + stderr).toContain('[secret]');
      expect(stdout + stderr).not.toContain('short-key');
    }
  });
});

test('an id without its dashes is no API key, and is shown', async () => {
  const id = '6f1c9f5e3a534c1b9f0a0d6f2c1f8a11';
  const { env } = await withMachine();
  for (const args of [
    ['status', id],
    ['explain', id],
    ['trigger', `nightly/${id}`],
    ['list', '--limit', id],
  ]) {
    const { code, stderr } = await runProgram(args, { env });
    expect([code, stderr]).toEqual([2, expect.stringContaining(id)]);
  }
});
