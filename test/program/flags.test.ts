// Every flag of `trigger` and `watch` reaches what it is for, through the command line and to the service.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/process.ts';
import type { Clock } from '../../src/runs/clock.ts';
import type { Scenario } from '../fault-kit/scenario.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { runProgram } from '../helpers/run-program.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** What a command sent, by kind, with the seconds since the command began. */
interface Sent {
  kind: 'trigger' | 'status' | 'result';
  atS: number;
  url: string;
  headers: Readonly<Record<string, string | undefined>>;
}

interface Seen {
  code: number;
  stdout: string;
  stderr: string;
  sent: Sent[];
  /** The seconds between one request of this kind and the next. */
  gaps(kind: Sent['kind']): number[];
  folder: string;
  tookMs: number;
}

const kindOf = ({ method, url }: { method: string; url: string }) =>
  method === 'POST' ? 'trigger' : url.endsWith('/result') ? 'result' : 'status';

/** Types a line, after the triggers that it needs. In it, `{folder}` stands for a folder of the test. */
async function typed(line: string | string[], scenario: Scenario = {}, ownClock?: Clock): Promise<Seen> {
  const argv = typeof line === 'string' ? line.split(' ') : line;
  const { emulator, env, clock } = await withEmulator({ automations: { '*': { duration: '60s' } }, ...scenario });
  if (argv[0] === 'watch') {
    const names = argv.slice(1).filter((word) => /^nightly/.test(word));
    for (const name of names) await runProgram(['trigger', name], { env, clock });
  }
  const folder = temporaryFolder();
  const [before, startMs] = [emulator.requests.length, clock.nowMs()];
  const words = argv.map((word) => word.replaceAll('{folder}', folder));
  const ended = await runProgram(words, { env: { ...env, PATH: process.env.PATH }, clock: ownClock ?? clock });
  const sent = emulator.requests.slice(before).map(({ method, url, headers, atMs }) => {
    return { kind: kindOf({ method, url }), atS: (atMs - startMs) / 1000, url, headers } as const;
  });
  const gaps = (kind: Sent['kind']) => {
    const times = sent.filter((each) => each.kind === kind).map(({ atS }) => atS);
    return times.slice(1).map((atS, index) => atS - (times[index] ?? 0));
  };
  return { ...ended, sent, gaps, folder };
}

const count = ({ sent }: Seen, kind: Sent['kind']) => sent.filter((each) => each.kind === kind).length;
const lastAtS = ({ sent }: Seen) => sent.at(-1)?.atS ?? 0;
/** A hook is a process, which takes real time. */
const short: Scenario = { automations: { '*': { duration: '50ms' } } };
const down = (on: 'status' | 'result'): Scenario => ({ faults: [{ on, do: 'status', status: 503 }] });

const commands = ['trigger nightly --watch', 'watch nightly'];

describe.each(commands)('%s', (command) => {
  test('--interval fixes the time between polls', async () => {
    const seen = await typed(`${command} --interval 7s`);
    expect(seen.gaps('status').length).toBeGreaterThan(5);
    for (const gap of seen.gaps('status')) expect(gap).toBeCloseTo(7, 0);
  });

  test('--rate limits the requests of all runs', async () => {
    const several = command.replace('nightly', 'nightly nightly-2 nightly-3');
    const seen = await typed(`${several} --rate 0.5 --interval 1s --timeout 30s`);
    for (const [index, { atS }] of seen.sent.entries()) {
      const third = seen.sent[index + 2];
      if (third) expect(third.atS - atS).toBeGreaterThan(1.9);
    }
    expect(seen.sent.length).toBeGreaterThan(8);
  });

  test('--timeout ends the wait, and the run is left alone', async () => {
    const seen = await typed(`${command} --timeout 40s`);
    expect(seen.code).toBe(124);
    expect(lastAtS(seen)).toBeGreaterThan(30);
    expect(lastAtS(seen)).toBeLessThan(46);
  });

  test('--request-timeout ends a request that hangs', async () => {
    const hanging: Scenario = { faults: [{ on: 'status', nth: 1, do: 'hang' }] };
    const seen = await typed(`${command} --request-timeout 200ms`, hanging);
    expect([seen.code, count(seen, 'status') > 1]).toEqual([0, true]);
    expect(seen.stderr).toContain('200ms');
  });

  test('--on-final runs its command with the run that has finished', async () => {
    const hook = 'echo "$RUNCTL_COMMAND: $RUNCTL_STATUS $RUNCTL_AUTOMATION" > "{folder}/hook"';
    const seen = await typed([...command.split(' '), '--interval', '50ms', '--on-final', hook], short, systemClock);
    const [name] = command.split(' ');
    expect(readFileSync(join(seen.folder, 'hook'), 'utf8')).toBe(`${name}: COMPLETED nightly\n`);
  });

  test('--on-final is stopped when it hangs', async () => {
    const seen = await typed([...command.split(' '), '--on-final', 'sleep 1000; touch "{folder}/done"']);
    expect([seen.code, existsSync(join(seen.folder, 'done'))]).toEqual([0, false]);
    expect(seen.stderr).toMatch(/--on-final/);
  });

  test('--json, --field and --quiet choose what is printed', async () => {
    const [json, field, quiet, plain] = await Promise.all(
      ['--json', '--field status', '--quiet', ''].map((flag) => typed(`${command} ${flag}`.trim())),
    );
    expect(jsonLines(json?.stdout ?? '')).toMatchObject([{ status: 'COMPLETED' }]);
    expect(field?.stdout).toBe('COMPLETED\n');
    expect([quiet?.stdout, quiet?.stderr]).toEqual(['', '']);
    expect(plain?.stdout).toContain('COMPLETED');
  });

  test('--debug prints each request', async () => {
    const seen = await typed(`${command} --debug`);
    expect(seen.stderr.match(/^debug: .*GET/gm)?.length).toBe(count(seen, 'status') + count(seen, 'result'));
  });

  test('--api-key-file gives the API key that is sent', async () => {
    const { env, emulator, clock } = await withEmulator({});
    await runProgram(['trigger', 'nightly'], { env, clock });
    const path = join(temporaryFolder(), 'key');
    writeFileSync(path, 'another-key-0123456789\n');
    const argv = [...command.replace(' nightly', ' nightly').split(' '), '--api-key-file', path];
    await runProgram(argv, { env, clock });
    expect(emulator.requests.at(-1)?.headers['x-api-key']).toBe('another-key-0123456789');
  });

  test('--base-url and --profile choose the service', async () => {
    const [one, other] = [await withEmulator({}), await withEmulator({})];
    const profile = {
      baseUrl: other.emulator.url,
      apiKey: other.env.RUNCTL_API_KEY,
      project: other.env.RUNCTL_PROJECT,
    };
    mkdirSync(one.env.RUNCTL_CONFIG_DIR ?? '', { recursive: true });
    const file = join(one.env.RUNCTL_CONFIG_DIR ?? '', 'config.json');
    writeFileSync(file, JSON.stringify({ profiles: { other: profile } }), { mode: 0o600 });
    const { RUNCTL_BASE_URL: _, RUNCTL_API_KEY: __, ...env } = one.env;
    await runProgram(['trigger', 'nightly', '--profile', 'other'], { env, clock: other.clock });
    const asked = () => other.emulator.requests.length;
    for (const [flags, own] of [
      [['--base-url', other.emulator.url], { RUNCTL_API_KEY: one.env.RUNCTL_API_KEY }],
      [['--profile', 'other'], {}],
    ] as const) {
      const before = asked();
      await runProgram([...command.split(' '), ...flags], { env: { ...env, ...own }, clock: other.clock });
      expect(asked()).toBeGreaterThan(before);
    }
    expect(one.emulator.requests).toEqual([]);
  });
});

describe('a watch', () => {
  test('gives up after the time of --give-up-after without a valid answer', async () => {
    const seen = await typed('watch nightly --give-up-after 90s', down('status'));
    expect(seen.code).toBe(10);
    expect(lastAtS(seen)).toBeGreaterThan(60);
    expect(lastAtS(seen)).toBeLessThan(91);
  });

  test('of every unfinished run takes all of them', async () => {
    const { env, clock } = await withEmulator({});
    for (const name of ['nightly', 'weekly']) await runProgram(['trigger', name], { env, clock });
    const { stdout } = await runProgram(['watch', '--all', '--json'], { env, clock });
    expect(jsonLines(stdout).map(({ automationName }) => automationName)).toEqual(['nightly', 'weekly']);
  });
});

test('recover is retried for --give-up-after', async () => {
  const { env, clock, emulator } = await withEmulator({ faults: [{ on: 'trigger', do: 'status', status: 503 }] });
  await runProgram(['trigger', 'nightly', '--give-up-after', '1ms'], { env, clock });
  const startMs = clock.nowMs();
  expect((await runProgram(['recover', '--give-up-after', '20s'], { env, clock })).code).toBe(12);
  expect(clock.nowMs() - startMs).toBeLessThan(25_000);
  expect(emulator.requests.length).toBeGreaterThan(3);
});

describe('a trigger', () => {
  test('is retried for --give-up-after, and so is its watch', async () => {
    const lost = await typed('trigger nightly --give-up-after 20s', {
      faults: [{ on: 'trigger', do: 'status', status: 503 }],
    });
    expect(lastAtS(lost)).toBeGreaterThan(5);
    expect(lastAtS(lost)).toBeLessThan(21);
    const watched = await typed('trigger nightly --watch --give-up-after 20s', down('status'));
    expect(watched.code).toBe(14);
    expect(lastAtS(watched)).toBeLessThan(30);
  });

  test('--interval is also the time before the first poll', async () => {
    const { sent } = await typed('trigger nightly --watch --interval 50s');
    expect((sent[1]?.atS ?? 0) - (sent[0]?.atS ?? 0)).toBeCloseTo(50, 0);
  });

  test("bears a firewall's 401 at the first poll of its own run", async () => {
    const seen = await typed('trigger nightly --watch', {
      faults: [{ on: 'status', nth: 1, do: 'status', status: 401 }],
    });
    expect(seen.code).toBe(0);
  });

  test('--idempotency-key is the key that is sent, with the automation in it', async () => {
    const seen = await typed('trigger nightly --idempotency-key day-{automation}');
    expect(seen.sent[0]?.headers['idempotency-key']).toMatch(/^day-.*nightly$/);
  });

  test.each([
    ['does not see it', [], true],
    ['watches it later', ['--watch']],
  ])(
    'whose key has a run asks for its status until it gives up, and warns if it %s',
    async (_, flags, isWarned = false) => {
      const away = { on: 'status', during: { for: '12m' }, do: 'status', status: 503 } as const;
      const { env, clock, emulator } = await withEmulator({
        automations: { '*': { duration: '30m' } },
        faults: [away],
      });
      const argv = ['trigger', 'nightly', '--idempotency-key', 'k'];
      await runProgram(argv, { env, clock });
      const startMs = clock.nowMs();
      const { code, stderr } = await runProgram([...argv, ...flags], { env, clock });
      expect([code, /can't be read/.test(stderr)]).toEqual([0, isWarned]);
      expect(emulator.requests.filter(({ status }) => status === 503).length).toBeGreaterThan(2);
      if (isWarned) expect(clock.nowMs() - startMs).toBeLessThan(610_000);
    },
  );

  test('--dry-run sends nothing', async () => {
    const seen = await typed('trigger nightly --dry-run');
    expect([seen.code, seen.sent]).toEqual([0, []]);
  });

  test('--project is the project that is asked', async () => {
    const project = '00000000-0000-4000-8000-0000000000aa';
    const seen = await typed(`trigger nightly --project ${project}`);
    expect(seen.sent[0]?.url).toContain(`/${project}/nightly/`);
  });
});

test('a watch gives up in time, however long a request may take', async () => {
  const hanging: Scenario = { faults: [{ on: 'status', do: 'hang' }] };
  const seen = await typed('watch nightly --give-up-after 300ms --request-timeout 60s', hanging, systemClock);
  expect([seen.code, seen.tookMs < 10_000]).toEqual([10, true]);
});
