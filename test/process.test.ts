import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { describe, test } from 'vitest';
import { version } from '../package.json';
import { projectId } from './given.ts';
import {
  linesIn,
  openTerminal,
  recordsIn,
  run,
  runctl,
  serve,
  temporaryFolder,
} from './processes.ts';

const fast = 1e7; // a run of an hour is over at once
const root = join(import.meta.dirname, '..');
const trigger = [...runctl, 'trigger', 'nightly'];
const follow = [...trigger, '--watch', '--interval', '1s'];
const withPreload = (path: string) => ({ NODE_OPTIONS: `--require "${path}"` });
const isLinux = process.platform === 'linux';
const hasNamespaces = spawnSync('unshare', ['-rm', '--pid', '--fork', 'true']).status === 0;

describe.concurrent('a terminal', () => {
  const summary =
    /^✔ nightly COMPLETED in .*\n {2}3 steps, 12 credits, run [\da-f-]{36}\nThe report was .*\.$/;

  test('the line of a run is redrawn in place, and its summary replaces it', async ({ expect }) => {
    const { env, finishRuns } = await serve();
    const terminal = openTerminal(follow, env);
    await terminal.sees(/RUNNING for \ds/);
    await terminal.sees(/RUNNING for ([3-9]|\d\d)s/);
    expect(await terminal.text()).toMatch(/^\S nightly RUNNING for \d+s$/);
    finishRuns();
    expect(await terminal.exit).toMatchObject({ exitCode: 0 });
    expect(await terminal.text()).toMatch(summary);
    expect(terminal.written()).not.toContain('\u001B[?25l'); // what hides the cursor
  });

  test('three runs are a line each, and a table replaces them', async ({ expect }) => {
    const { env, finishRuns } = await serve();
    const terminal = openTerminal([...follow, 'export', 'import-eu'], env);
    const line = (name: string) => ` {4}${name} +RUNNING for ([3-9]|\\d\\d)s`;
    const board = ['\\S 0 of 3 finished', ...['nightly', 'export', 'import-eu'].map(line)];
    await terminal.sees(new RegExp(`^${board.join('\\n')}$`));
    finishRuns();
    expect(await terminal.exit).toMatchObject({ exitCode: 0 });
    expect(await terminal.text()).toMatch(/^ {2}AUTOMATION .*(\n✔ [a-z-]+ +COMPLETED .*){3}$/);
  });

  test('what is higher than the terminal leaves nothing in the scrollback', async ({ expect }) => {
    const { env, finishRuns } = await serve({ nightly: { durationMs: 1 } });
    const terminal = openTerminal([...follow, 'a', 'b', 'c', 'd'], env, 5);
    await terminal.sees(/^\S 1 of 5 finished, 3 not shown(\n {4}\S+ +RUNNING .*){2}$/);
    finishRuns();
    await terminal.exit;
    expect(await terminal.text()).toMatch(/^ {2}AUTOMATION .*(\n✔ .* COMPLETED .*){5}$/);
  });

  test.skipIf(!isLinux)('without columns gets lines', async ({ expect }) => {
    const { env } = await serve({}, fast);
    const command = follow.map((word) => `'${word}'`).join(' ');
    // Without a terminal of its own, it makes one of 0 columns.
    const ended = await run(['script', '-qec', command, '/dev/null'], env);
    expect(ended.exitCode).toBe(0);
    expect(ended.stdout).toMatch(/nightly started,.*COMPLETED/s);
  });

  test('config tries the API key that is typed, whatever the environment has', async ({
    expect,
  }) => {
    const { env } = await serve();
    const { RUNCTL_API_KEY: apiKey, RUNCTL_BASE_URL: url, ...others } = env;
    const stored = { baseUrl: 'https://api.example.com', apiKey: 'sk-live-of-another-url' };
    const config = JSON.stringify({ profiles: { default: stored } });
    writeFileSync(`${env.RUNCTL_CONFIG_DIR}/config.json`, config, { mode: 0o600 });
    const terminal = openTerminal([...runctl, 'config'], { ...others, RUNCTL_API_KEY_FILE: '/no' });
    const answers = [
      [/base URL/i, url],
      [/API key/, apiKey],
      [/project/, ''],
    ] as const;
    for (const [question, answer] of answers) {
      await terminal.sees(question);
      terminal.type(`${answer}\r`);
    }
    expect(await terminal.exit).toMatchObject({ exitCode: 0 });
    expect(await terminal.text()).toContain('stored baseUrl, apiKey');
    expect(terminal.written()).not.toContain('Enter keeps');
    await openTerminal([...runctl, 'config', '--profile', 'new'], env).sees(/base URL/);
  });

  test('is no place to type an API key that would be shown', async ({ expect }) => {
    const { env } = await serve();
    const terminal = openTerminal([...runctl, 'status', '@', '--api-key-file', '-'], env);
    await terminal.sees(/stdin is a terminal/);
    expect(await terminal.exit).toMatchObject({ exitCode: 2 });
  });

  test('of stderr alone gets no question', async ({ expect }) => {
    const { env } = await serve();
    const folder = temporaryFolder();
    const script = '"$@" < /dev/null; echo "ended with $?"; echo sk-live-piped | "$@" set apiKey';
    const command = ['sh', '-c', script, 'sh', ...runctl, 'config'];
    const terminal = openTerminal(command, { ...env, RUNCTL_CONFIG_DIR: folder });
    expect(await terminal.exit).toMatchObject({ exitCode: 0 });
    expect(await terminal.text()).toContain('ended with 2');
    expect(terminal.written()).not.toMatch(/\? (base URL|API key)/);
    expect(readFileSync(join(folder, 'config.json'), 'utf8')).toContain('"sk-live-piped"');
  });

  test('three runs write 2 kB to it in 10 s at most', async ({ expect }) => {
    const { env } = await serve();
    const terminal = openTerminal([...follow, 'export', 'import-eu'], env);
    await terminal.sees(/0 of 3/);
    const before = terminal.written().length;
    await new Promise((resolve) => setTimeout(resolve, 5000));
    expect(terminal.written().length - before).toBeLessThan(1000);
  });

  test.skipIf(!isLinux).for([
    ['&', /nightly started/],
    ['', /^\S nightly RUNNING/m],
  ] as const)('a command in the background draws nothing (%j)', async ([end, seen], { expect }) => {
    const { env, finishRuns } = await serve();
    const bash = ['bash', '--norc', '--noprofile', '-is', ...follow];
    const shell = openTerminal(bash, { ...env, PS1: '> ' });
    shell.type(`"$@" ${end}\r`);
    await shell.sees(seen);
    if (end === '') {
      shell.type('\u001A'); // Ctrl-Z
      await shell.sees(/Stopped/);
      shell.type('bg\r');
      await shell.sees(/^\[1\]\+ .* &$/m);
    }
    const before = shell.written().length;
    shell.type('echo typed\r');
    await shell.sees(/^typed/m);
    finishRuns();
    await shell.sees(/nightly COMPLETED/);
    expect(await shell.text()).toMatch(/^typed/m);
    expect(shell.written().slice(before)).not.toContain('RUNNING');
  });
});

/** How many processes of each command are killed, a multiple of 4. */
const kills = Number(process.env.RUNCTL_KILLS ?? 12);

describe.concurrent('kill -9 at any moment', { timeout: 30_000 + 1000 * kills }, () => {
  const preload = withPreload(join(import.meta.dirname, 'kill-at.cjs'));

  /** Runs commands, four at once, and kills each at another of so many moments. */
  async function killEach(
    env: NodeJS.ProcessEnv,
    momentCount: number,
    argsOf: (n: number) => string[] | Promise<string[]>,
  ): Promise<void> {
    const killOne = async (n: number) => {
      const args = await argsOf(n);
      const moment = { ...preload, KILL_AT: `${(n * 7) % momentCount}` };
      await run([...runctl, ...args], { ...env, ...moment });
    };
    for (let n = 0; n < kills; n += 4) {
      await Promise.all([n, n + 1, n + 2, n + 3].map(killOne));
    }
  }

  const listOf = async (env: NodeJS.ProcessEnv) =>
    (await run([...runctl, 'list', '--offline', '--since', '1h'], env)).stdout;

  /** A trigger arrives at the service. Returns the id of its run. */
  async function post(env: NodeJS.ProcessEnv, name: string, key: string): Promise<string> {
    const { RUNCTL_BASE_URL: url, RUNCTL_API_KEY: apiKey = '' } = env;
    const response = await fetch(`${url}/v0/automation/${projectId}/${name}/trigger`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'idempotency-key': key, 'content-type': 'application/json' },
      body: '{}',
    });
    const { executionId } = (await response.json()) as { executionId: string };
    return executionId;
  }

  /** A journal with one unknown trigger, and a function that adds records like its own. */
  async function withUnknown(service: Awaited<ReturnType<typeof serve>>) {
    await run(trigger, { ...service.env, ...preload, KILL_AT: '3' });
    const [file = ''] = readdirSync(service.journal);
    const [sent] = recordsIn(service.journal);
    return (fields: object) =>
      appendFileSync(join(service.journal, file), `\n${JSON.stringify({ ...sent, ...fields })}\n`);
  }

  test('`trigger --watch`: each trigger that is on disk has one run', async ({ expect }) => {
    const losesFirst = ['trigger'] as const;
    const lossy = Array.from({ length: kills }, (_, n) => [`lossy-${3 * n}`, { losesFirst }]);
    const { env, runs, journal } = await serve(Object.fromEntries(lossy), fast);
    await killEach(env, 30, (n) => [
      'trigger',
      `${n % 3 === 0 ? 'lossy' : 'good'}-${n}`,
      '--watch',
    ]);
    const recovered = await run([...runctl, 'recover'], env);
    const listed = await listOf(env);
    const sent = recordsIn(journal).filter(({ type, repeats }) => type === 'sent' && !repeats);
    const names = runs().map(({ automation }) => automation.name);
    expect(names.toSorted()).toEqual(sent.map(({ name }) => name).toSorted());
    const ids = runs().map(({ executionId }) => executionId);
    expect(ids.filter((id) => !listed.includes(id))).toEqual([]);
    expect(recovered.exitCode).toBe(0);
  });

  test('`recover`: each unknown trigger gets one run', async ({ expect }) => {
    const service = await serve();
    const { env, runs } = service;
    const add = await withUnknown(service);
    await killEach(env, 15, async (n) => {
      const [name, key] = [`lost-${n}`, `key-${n}`];
      if (n % 2 === 0) await post(env, name, key);
      add({ id: `sent-${n}`, key, name });
      return ['recover'];
    });
    const recovered = await run([...runctl, 'recover'], env);
    const listed = await listOf(env);
    const names = runs().map(({ automation }) => automation.name);
    expect(new Set(names).size).toBe(kills + 1);
    expect(names).toHaveLength(kills + 1);
    expect(runs().filter(({ executionId: id }) => !listed.includes(id))).toEqual([]);
    expect(recovered.exitCode).toBe(0);
  });

  test('`watch --all`: the next one follows what is left', async ({ expect }) => {
    const service = await serve({}, fast);
    const { env } = service;
    const add = await withUnknown(service);
    await run([...runctl, 'recover'], env);
    await killEach(env, 12, async (n) => {
      const [name, key] = [`left-${n}`, `key-${n}`];
      add({ type: 'accepted', key, name, executionId: await post(env, name, key) });
      return ['watch', '--all'];
    });
    const watched = await run([...runctl, 'watch', '--all'], env);
    const listed = await listOf(env);
    expect(watched.exitCode).toBe(0);
    const completed = listed.split('\n').filter((row) => row.includes('\tCOMPLETED\t'));
    expect(completed).toHaveLength(kills + 1);
  });
});

describe.concurrent('a signal', () => {
  test.for(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    '%s ends `trigger --watch` by itself, and the message says how to go on',
    async (name, { expect }) => {
      const { env, runs } = await serve();
      const ended = await run(follow, env, (child) => child.kill(name));
      expect(ended).toMatchObject({ exitCode: null, signal: name, stdout: '' });
      expect(ended.stderr).toContain(`runctl watch ${projectId}/nightly/${runs()[0]?.executionId}`);
    },
  );

  test('a second signal ends a command that the first one does not end', async ({ expect }) => {
    const output = 'x'.repeat(1_000_000);
    const { env } = await serve({ '*': { output } }, fast);
    await run(trigger, env);
    // Nobody reads more of its output than one piece.
    const [file = '', ...args] = [...runctl, 'result', '@'];
    const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
    await once(child.stdout, 'readable');
    child.kill('SIGTERM');
    const second = setInterval(() => child.kill('SIGTERM'), 200);
    expect(await once(child, 'exit')).toEqual([null, 'SIGTERM']);
    clearInterval(second);
  });

  test('that is SIGINT reaches the command of the emulator from the terminal alone', async ({
    expect,
  }) => {
    const { env } = await serve();
    const script = 'echo " started," >&2; sleep 1; echo finished >&2';
    const command = [...runctl, 'emulator', '--', 'sh', '-c', script];
    const ended = await run(command, env, (child) => child.kill('SIGINT'));
    expect(ended.stderr).toContain('finished');
  });

  test.skipIf(!hasNamespaces)('as PID 1 it exits with 128+n', async ({ expect }) => {
    const { env } = await serve();
    const command = ['unshare', '-r', '--pid', '--fork', ...follow];
    const ended = await run(command, env, ({ pid }) => {
      const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
      process.kill(Number(child), 'SIGTERM');
    });
    expect(ended).toMatchObject({ exitCode: 143, signal: null });
  });

  test.for([
    ['C', '\u0003'],
    ['D', '\u0004'],
  ] as const)('Ctrl-%s in a question ends by SIGINT', async ([, key], { expect }) => {
    const terminal = openTerminal([...runctl, 'config'], (await serve()).env);
    await terminal.sees(/base URL/);
    terminal.type(key);
    expect(await terminal.exit).toMatchObject({ signal: 2 });
    expect(await terminal.text()).toMatch(/nothing was stored$/);
  });

  test('SIGUSR1 opens no debugger', async ({ expect }) => {
    const { env, finishRuns } = await serve();
    const ended = await run(follow, env, (child) => {
      child.kill('SIGUSR1');
      setTimeout(finishRuns, 500);
    });
    expect(ended.exitCode).toBe(0);
    expect(ended.stderr).not.toContain('Debugger');
  });

  test('one Ctrl-C ends the loop of a shell, and leaves a message alone', async ({ expect }) => {
    const { env, runs } = await serve();
    const loop = 'while true; do "$@"; sleep 0.1; done';
    const terminal = openTerminal(['bash', '-c', loop, 'bash', ...follow], env);
    await terminal.sees(/nightly RUNNING/);
    terminal.type('\u0003');
    expect(await terminal.exit).toMatchObject({ signal: 2 });
    expect(await terminal.text()).toMatch(/^(\^C)?runctl: nightly continues, .*\n.*→ runctl watch/);
    expect(runs()).toHaveLength(1);
  });
});

describe.concurrent('colors', () => {
  test.for([
    [{}, '', true],
    [{ NO_COLOR: '1' }, '', false],
    [{ NO_COLOR: '' }, '', true],
    [{ CI: 'true' }, '', false],
    [{}, '--no-color', false],
    [{ FORCE_COLOR: '1' }, '--no-color', false],
    [{ FORCE_COLOR: '0' }, '', false],
    [{ FORCE_COLOR: '1', NO_COLOR: '1' }, '', true],
  ] as const)('on a terminal with %j and %j: %j', async ([more, flag, expected], { expect }) => {
    const { env } = await serve();
    await run(trigger, env);
    const list = [...runctl, 'list', ...(flag ? [flag] : [])];
    const terminal = openTerminal(list, { ...env, ...more });
    await terminal.exit;
    expect(await terminal.text()).toMatch(/nightly\s+RUNNING/);
    expect(terminal.written()).not.toContain('Warning');
    expect(terminal.written().includes('\u001B[36m')).toBe(expected); // cyan
  });

  test.for([
    [{}, false],
    [{ FORCE_COLOR: '1' }, true],
    [{ FORCE_COLOR: '0' }, false],
  ] as const)('in a pipe with %j: %j', async ([more, expected], { expect }) => {
    const { env } = await serve({
      '*': { refusal: { status: 422, body: { code: 'runAlreadyActive' } } },
    });
    const { stderr } = await run(trigger, { ...env, ...more });
    expect(stderr).toContain("nightly wasn't started");
    expect(stderr.includes('\u001B[')).toBe(expected);
  });
});

test.concurrent('a locale without UTF-8 gets ASCII, and LC_ALL beats LANG', async ({ expect }) => {
  const { env } = await serve({
    '*': { refusal: { status: 422, body: { code: 'runAlreadyActive' } } },
  });
  const { stderr } = await run(trigger, { ...env, LC_ALL: 'C' });
  expect(stderr).toContain('\n  -> ');
});

describe.concurrent('what cannot be written', () => {
  test.skipIf(!hasNamespaces)(
    'on a full disk a run is started all the same, and doctor says so',
    async ({ expect }) => {
      const { env, runs } = await serve();
      const script = `mkdir "$FULL"; mount -t tmpfs -o size=4k none "$FULL"; mkdir "$FULL/journal"
      head -c 4090 /dev/zero > "$FULL/journal/00000001.jsonl"
      "$1" "$2" doctor | grep -q 'journal .* ENOSPC' || exit 99; exec "$@"`;
      const full = join(temporaryFolder(), 'full');
      const command = ['unshare', '-rm', 'sh', '-c', script, 'sh', ...trigger];
      const ended = await run(command, { ...env, FULL: full, RUNCTL_STATE_DIR: full });
      expect(ended).toMatchObject({ exitCode: 0, stdout: `${runs()[0]?.executionId}\n` });
      expect(ended.stderr).toMatch(
        /^runctl: warning: the journal in .* ENOSPC: no space left .*\n$/,
      );
    },
  );

  test.skipIf(!isLinux).for([
    ['of a full disk', 'exec "$@" > /dev/full', 74],
    ['that nobody reads', '"$@" | true; exit $PIPESTATUS', 141],
  ] as const)('with a stdout %s the id is on stderr', async ([, script, exitCode], { expect }) => {
    const { env, runs } = await serve();
    const ended = await run(['bash', '-c', script, 'bash', ...trigger], env);
    expect(ended).toMatchObject({ exitCode, stdout: '' });
    const id = runs()[0]?.executionId;
    expect(ended.stderr).toMatch(
      new RegExp(`^runctl: .* written: .*\n {2}nightly is run ${id}\n$`),
    );
  });

  test.skipIf(!isLinux)('ends a command that a signal is to end', async ({ expect }) => {
    const { env } = await serve({ '*': { durationMs: 1, output: 'x'.repeat(1e6) } });
    await run(trigger, env);
    const script = `"$@" > >(sleep 20 > /dev/null 2>&1) & sleep 1; kill -TERM $!; wait $!; echo $?`;
    const command = ['bash', '-c', script, 'bash', ...runctl, 'result', 'nightly'];
    expect((await run(command, env)).stdout).toBe('74\n');
  });

  test.for([
    ['an error that nobody catches', `setTimeout(() => { throw new TypeError('odd\\nthing'); })`],
    ['anything else that is thrown', 'setTimeout(() => { throw null; })'],
    ['an error in a command', `crypto.randomUUID = () => { throw new TypeError('odd'); }`],
    [
      'an event loop that runs empty',
      'const { setTimeout: real } = globalThis;' +
        'globalThis.setTimeout = (...all) => real(...all).unref()',
    ],
  ] as const)('%s is one line and 70', async ([, script], { expect }) => {
    const { env } = await serve();
    const path = join(temporaryFolder(), 'preload.cjs');
    writeFileSync(path, script);
    const ended = await run([...follow, '--quiet'], { ...env, ...withPreload(path) });
    expect(ended).toMatchObject({ exitCode: 70, stdout: '' });
    expect(ended.stderr).toMatch(/^runctl: a bug: .*\n$/);
  });
});

test.concurrent('a bug that quotes the API key does not show it', async ({ expect }) => {
  const { env } = await serve();
  const path = join(temporaryFolder(), 'preload.cjs');
  const script = `const { Socket } = require('node:net');
    Socket.prototype.connect = () => { setTimeout(() => { throw process.env.RUNCTL_API_KEY; }); };`;
  writeFileSync(path, script);
  const ended = await run(trigger, { ...env, ...withPreload(path) });
  expect(ended).toMatchObject({ exitCode: 70, stderr: 'runctl: a bug: [secret]\n' });
});

test.concurrent('a connection that is closed at once is a lost one', async ({ expect }) => {
  const { env } = await serve();
  const path = join(temporaryFolder(), 'preload.cjs');
  const script = `const { Socket } = require('node:net');
    const { connect } = Socket.prototype;
    Socket.prototype.connect = function (...all) {
      Object.defineProperty(this, 'remoteAddress', { value: '127.0.0.1' });
      return connect.apply(this.once('connect', () => this.destroy()), all);
    };`;
  writeFileSync(path, script);
  const ended = await run([...trigger, '--give-up-after', '0'], { ...env, ...withPreload(path) });
  expect(ended).toMatchObject({ exitCode: 12 });
});

describe.concurrent('the journal', () => {
  test('has each line of many processes that write at once', async ({ expect }) => {
    const folder = temporaryFolder();
    const journal = join(folder, 'journal');
    const lineCount = 50;
    buildSync({
      stdin: {
        contents: `import { appendLine } from './src/journal/files.ts';
          const [folder, name] = process.argv.slice(2);
          for (let n = 0; n < ${lineCount}; n++) {
            appendLine(folder, name + n + '.'.repeat(n * n), n % 10 === 0);
          }`,
        resolveDir: root,
      },
      bundle: true,
      platform: 'node',
      outfile: join(folder, 'append.cjs'),
    });
    const append = [process.execPath, join(folder, 'append.cjs'), journal];
    const names = [...'abcdefgh'];
    await Promise.all(names.map((name) => run([...append, name], {})));
    const numbers = Array.from({ length: lineCount }, (_, n) => n);
    const lines = names.flatMap((name) => numbers.map((n) => name + n + '.'.repeat(n * n)));
    expect(linesIn(journal).toSorted()).toEqual(lines.toSorted());
    expect(readdirSync(journal).length).toBeGreaterThan(1);
  });

  test('is on disk before a trigger is sent, with the name of a new file', async ({ expect }) => {
    const { env } = await serve();
    const folder = temporaryFolder();
    const [path, log] = [join(folder, 'preload.cjs'), join(folder, 'log')];
    const script = `const fs = require('node:fs');
      const { Socket } = require('node:net');
      const { appendFileSync, fsyncSync } = fs;
      const log = (line) => appendFileSync(${JSON.stringify(log)}, line + '\\n');
      fs.appendFileSync = (path, line, options) => {
        appendFileSync(path, line, options);
        log(options.flush ? 'line is on disk' : 'line is written');
      };
      fs.fsyncSync = (fd) => {
        fsyncSync(fd);
        if (fs.fstatSync(fd).isDirectory()) log('folder is on disk');
      };
      const { connect } = Socket.prototype;
      Socket.prototype.connect = function (...all) {
        log('connects');
        return connect.apply(this, all);
      };`;
    writeFileSync(path, script);
    expect(await run(trigger, { ...env, ...withPreload(path) })).toMatchObject({ exitCode: 0 });
    const events = readFileSync(log, 'utf8').split('\n');
    expect(events.slice(0, 3)).toEqual(['line is on disk', 'folder is on disk', 'connects']);
    expect(events.slice(3)).toEqual(['line is on disk', '']);
  });

  test.for(['EACCES', 'EPERM'])('goes on in a new file after %s', async (code, { expect }) => {
    const { env, journal } = await serve();
    await run(trigger, env);
    const path = join(temporaryFolder(), 'preload.cjs');
    const script = `const fs = require('node:fs');
      const { appendFileSync } = fs;
      fs.appendFileSync = (path, ...all) => {
        if (path.includes('00000001')) throw Object.assign(new Error(), { code: '${code}' });
        appendFileSync(path, ...all);
      };`;
    writeFileSync(path, script);
    const ended = await run([...runctl, 'trigger', 'export'], { ...env, ...withPreload(path) });
    expect(ended).toMatchObject({ exitCode: 0, stderr: '' });
    expect(readdirSync(journal)).toEqual(['00000001.jsonl', '00000002.jsonl']);
  });

  test("is its owner's alone", async ({ expect }) => {
    const { env, journal } = await serve();
    env.RUNCTL_STATE_DIR = join(journal, 'state');
    await run(['sh', '-c', 'umask 000; exec "$@"', 'sh', ...trigger], env);
    const paths = ['', '/journal', '/journal/00000001.jsonl'];
    const modes = paths.map((path) => statSync(env.RUNCTL_STATE_DIR + path).mode & 0o777);
    expect(modes).toEqual([0o700, 0o700, 0o600]);
  });
});

test.concurrent('the package, installed without a network, works for cron', async ({ expect }) => {
  const folder = temporaryFolder();
  const { PATH } = process.env;
  const env = { PATH, HOME: folder, npm_config_offline: 'true', npm_config_prefix: folder };
  const pack = ['npm', 'pack', '--ignore-scripts', '--pack-destination', folder, root];
  const { stdout } = await run(pack, env);
  const install = ['npm', 'install', '--global', '--silent', join(folder, stdout.trim())];
  expect(await run(install, env)).toMatchObject({ exitCode: 0, stderr: '' });
  const program = join(folder, 'bin/runctl');
  const printed = await run([program, '--version'], { PATH });
  expect(printed).toMatchObject({ exitCode: 0, stdout: `${version}\n`, stderr: '' });

  const line = 'umask 077; exec runctl emulator --speed 20 -- runctl trigger nightly --watch';
  const watched = await run(['sh', '-c', line], {
    PATH: `${join(folder, 'bin')}:${PATH}`,
    HOME: '/nonexistent',
    RUNCTL_STATE_DIR: join(folder, 'state'),
    RUNCTL_CONFIG_DIR: join(folder, 'config'),
  });
  expect(watched.exitCode).toBe(0);
  expect(watched.stdout).toContain('nightly COMPLETED in ');
  expect(watched.stderr).toMatch(/^POST .*\/nightly\/trigger 201 RUNNING [\da-f]{8}$/m);
});
