// Every flag of `trigger` and `watch` reaches what it is for, through the command line and to the service. A test of a new flag
// types a line and looks at what the service was asked, as `--interval` does here. If the flag decides about the exit code, it
// has a row in codes.test.ts.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/process.ts';
import type { Endpoint } from '../../src/run/service.ts';
import type { FinalStatus } from '../../src/run/statuses.ts';
import type { Scenario } from '../fault-kit/scenario.ts';
import { createLeapingClock } from '../helpers/leaping-clock.ts';
import { withMachine } from '../helpers/machine.ts';
import type { Ended, ProgramOptions } from '../helpers/run-program.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

interface Seen extends Ended {
  /** What the command sent, with the seconds since it began. */
  sent: { kind: Endpoint; atS: number; url: string; headers: Readonly<Record<string, string | undefined>> }[];
}

const kindOf = ({ method, url }: { method: string; url: string }): Endpoint =>
  method === 'POST' ? 'trigger' : url.endsWith('/result') ? 'result' : 'status';

/** Types a line; of a `watch`, the runs have been started before. A run takes a minute. */
async function typed(line: string | string[], scenario: Scenario = {}, options: ProgramOptions = {}): Promise<Seen> {
  const clock = createLeapingClock();
  const sentAtMs: number[] = [];
  const onRequest = () => void sentAtMs.push(clock.elapsedMs());
  const { run, emulator } = await withMachine(
    { automations: { '*': { duration: '60s' } }, ...scenario },
    { onRequest },
    clock,
  );
  const [command, ...words] = typeof line === 'string' ? line.split(' ') : line;
  const names = words.filter((word) => /^nightly/.test(word));
  if (command === 'watch') for (const name of names) await run(`trigger ${name}`);
  const [before, startMs] = [emulator.requests.length, clock.elapsedMs()];
  const ended = await run(line, options);
  const sent = emulator.requests.slice(before).map(({ method, url, headers }, index) => {
    const atS = ((sentAtMs[before + index] ?? 0) - startMs) / 1000;
    return { kind: kindOf({ method, url }), atS, url, headers };
  });
  return { ...ended, sent };
}

const of = ({ sent }: Seen, kind: Endpoint) => sent.filter((each) => each.kind === kind);
/** The seconds between one request of this kind and the next. */
function gaps(seen: Seen, kind: Endpoint): number[] {
  const times = of(seen, kind).map(({ atS }) => atS);
  return times.slice(1).map((atS, index) => atS - (times[index] ?? 0));
}
const lastAtS = ({ sent }: Seen) => sent.at(-1)?.atS ?? 0;

const down = (on: Endpoint): Scenario => ({ faults: [{ on, do: 'status', status: 503 }] });
const hanging = (nth?: number): Scenario => ({ faults: [{ on: 'status', nth, do: 'hang' }] });
const path = { PATH: process.env.PATH };

describe.each(['trigger nightly --watch', 'watch nightly'])('%s', (command) => {
  test('--interval fixes the time between polls', async () => {
    const seen = await typed(`${command} --interval 7s`);
    expect(of(seen, 'status').length).toBeGreaterThan(5);
    for (const gap of gaps(seen, 'status')) expect(gap).toBeCloseTo(7, 0);
  });

  test('--rate limits the requests of all runs', async () => {
    const several = command.replace('nightly', 'nightly nightly-2 nightly-3');
    const { sent } = await typed(`${several} --rate 0.5 --interval 1s --timeout 30s`);
    expect(sent.length).toBeGreaterThan(8);
    for (const [index, { atS }] of sent.entries())
      expect((sent[index + 2]?.atS ?? Number.POSITIVE_INFINITY) - atS).toBeGreaterThan(1.9);
  });

  test('--timeout ends the wait, and the run continues', async () => {
    const seen = await typed(`${command} --timeout 40s`);
    expect(seen.code).toBe(124);
    expect(lastAtS(seen)).toBeGreaterThan(30);
    expect(lastAtS(seen)).toBeLessThan(46);
  });

  test('--timeout 0 never ends the wait', async () => {
    const seen = await typed(`${command} --timeout 0 --interval 5m`, { automations: { '*': { duration: '5h' } } });
    expect([seen.code, lastAtS(seen) > 4 * 3600]).toEqual([0, true]);
  });

  test('--request-timeout ends a request that hangs', async () => {
    const seen = await typed(`${command} --request-timeout 200ms`, hanging(1));
    expect([seen.code, of(seen, 'status').length > 1]).toEqual([0, true]);
    expect(seen.stderr).toContain('200ms');
  });

  test('--on-final is stopped if it hangs', async () => {
    const file = join(temporaryFolder(), 'done');
    const seen = await typed([...command.split(' '), '--on-final', `sleep 1000; touch "${file}"`], {}, { env: path });
    expect([seen.code, existsSync(file)]).toEqual([0, false]);
    expect(seen.stderr).toContain('--on-final');
  });

  test('--json, --field and --quiet choose what is printed', async () => {
    expect((await typed(`${command} --json`)).documents).toMatchObject([{ status: 'COMPLETED' }]);
    expect((await typed(`${command} --field status`)).stdout).toBe('COMPLETED\n');
    expect(await typed(`${command} --quiet`)).toMatchObject({ stdout: '', stderr: '' });
    expect((await typed(command)).stdout).toContain('COMPLETED');
  });

  test('--debug prints each request', async () => {
    const seen = await typed(`${command} --debug`);
    expect(seen.stderr.match(/^debug: .*(GET|POST)/gm)?.length).toBe(seen.sent.length);
  });

  test('--api-key-file gives the API key that is sent', async () => {
    const file = join(temporaryFolder(), 'key');
    writeFileSync(file, 'another-key-0123456789\n');
    const seen = await typed([...command.split(' '), '--api-key-file', file]);
    expect(seen.sent.map(({ headers }) => headers['x-api-key'])).toContain('another-key-0123456789');
  });

  test('--project is the project of the request', async () => {
    const project = '00000000-0000-4000-8000-0000000000aa';
    const { run, emulator } = await withMachine({ automations: { '*': { duration: '1s' } } });
    await run(`trigger ${project}/nightly`);
    await run(`${command} --project ${project}`);
    expect(emulator.requests.filter(({ url }) => !url.includes(`/${project}/nightly/`))).toEqual([]);
  });

  test('--base-url and --profile choose the service', async () => {
    const [one, other] = [await withMachine(), await withMachine()];
    const { RUNCTL_BASE_URL: baseUrl, RUNCTL_API_KEY: apiKey, RUNCTL_PROJECT: project } = other.env;
    one.store({ other: { baseUrl, apiKey, project } });
    const { clock } = other;
    const unset = { RUNCTL_BASE_URL: '', RUNCTL_API_KEY: '' };
    await one.run('trigger nightly --profile other', { env: unset, clock });
    for (const [flags, env] of [
      [`--base-url ${baseUrl}`, { ...unset, RUNCTL_API_KEY: apiKey }],
      ['--profile other', unset],
    ] as const) {
      const before = other.emulator.requests.length;
      await one.run(`${command} ${flags}`, { env, clock });
      expect(other.emulator.requests.length).toBeGreaterThan(before);
    }
    expect(one.emulator.requests).toEqual([]);
  });
});

describe('--on-final passes to its command', () => {
  const variables = 'COMMAND STATUS OUTCOME EXIT_CODE STARTED AUTOMATION EXECUTION_ID'.split(' ');

  const unread: Scenario = { faults: [{ on: 'result', do: 'status', status: 503 }] };

  test.each<[line: string, ended: FinalStatus, given: string, scenario?: Scenario]>([
    ['trigger nightly --watch', 'COMPLETED', 'trigger COMPLETED ok 0 yes nightly'],
    ['trigger nightly --watch --idempotency-key k', 'FAILED', 'trigger FAILED run_failed 1 unknown nightly'],
    ['watch nightly', 'TIMED_OUT', 'watch TIMED_OUT run_timed_out 3 no nightly'],
    ['watch nightly --give-up-after 1s', 'COMPLETED', 'watch COMPLETED result_unavailable 13 no nightly', unread],
    ['watch nightly --give-up-after 1s', 'FAILED', 'watch FAILED run_failed 1 no nightly', unread],
  ])('every variable of `%s`, and the document', async (line, finalStatus, given, others) => {
    const folder = temporaryFolder();
    const [values, input] = [join(folder, 'values'), join(folder, 'input')];
    const hook = `echo ${variables.map((name) => `"$RUNCTL_${name}"`).join(' ')} > "${values}"; cat > "${input}"`;
    // A hook is a process, which takes real time.
    const options = { clock: systemClock, env: path };
    const scenario = { ...others, automations: { '*': { duration: '1ms', finalStatus } } };
    const seen = await typed(
      [...line.split(' '), '--interval', '20ms', '--on-final', hook, '--json'],
      scenario,
      options,
    );
    const [document] = seen.documents;
    expect(readFileSync(values, 'utf8')).toBe(`${given} ${document.executionId}\n`);
    expect(JSON.parse(readFileSync(input, 'utf8'))).toEqual(document);
  });
});

test('--timeout is 3 h 15 min, if it is not given', async () => {
  const seen = await typed('watch nightly --interval 5m', { automations: { '*': { duration: '5h' } } });
  expect([seen.code, Math.round(lastAtS(seen) / 60)]).toEqual([124, 195]);
});

describe('--give-up-after', () => {
  test.each([
    ['watch nightly', 'status', 10],
    ['trigger nightly --watch', 'status', 14],
    ['trigger nightly', 'trigger', 12],
  ] as const)('limits the time without a valid response of %s', async (line, on, code) => {
    const seen = await typed(`${line} --give-up-after 90s`, down(on));
    expect(seen.code).toBe(code);
    expect(lastAtS(seen)).toBeGreaterThan(45);
    expect(lastAtS(seen)).toBeLessThan(95);
  });

  test('is 10 minutes, if it is not given', async () => {
    const seen = await typed('watch nightly', down('status'));
    expect(lastAtS(seen)).toBeGreaterThan(300);
    expect(lastAtS(seen)).toBeLessThan(601);
  });

  test('limits the time of recover', async () => {
    const { run, clock, keys } = await withMachine(down('trigger'));
    await run('trigger nightly --give-up-after 1ms');
    const startMs = clock.nowMs();
    expect((await run('recover --give-up-after 20s')).code).toBe(12);
    expect(clock.nowMs() - startMs).toBeLessThan(25_000);
    expect(keys().length).toBeGreaterThan(3);
  });

  test.each([
    ['does not see it', '', true],
    ['watches it later', ' --watch', false],
  ])(
    'limits the time in which a trigger whose key has a run requests its status, and it warns if it %s',
    async (_, flag, isWarned) => {
      const { run, emulator, clock } = await withMachine({
        automations: { '*': { duration: '30m' } },
        faults: [{ on: 'status', during: { for: '12m' }, do: 'status', status: 503 }],
      });
      const line = 'trigger nightly --idempotency-key k';
      await run(line);
      const startMs = clock.nowMs();
      const { code, stderr } = await run(line + flag);
      const isBrief = clock.nowMs() - startMs < 610_000;
      expect([code, /can't be read/.test(stderr), isBrief]).toEqual([0, isWarned, isWarned]);
      expect(emulator.requests.filter(({ status }) => status === 503).length).toBeGreaterThan(2);
    },
  );
});

describe('trigger nightly', () => {
  test('--interval is also the time before the first poll', async () => {
    const { sent } = await typed('trigger nightly --watch --interval 50s');
    expect((sent[1]?.atS ?? 0) - (sent[0]?.atS ?? 0)).toBeCloseTo(50, 0);
  });

  test("--watch tolerates a firewall's 401 at the first poll of its own run", async () => {
    const firewall: Scenario = { faults: [{ on: 'status', nth: 1, do: 'status', status: 401 }] };
    expect((await typed('trigger nightly --watch', firewall)).code).toBe(0);
  });

  test('--idempotency-key is the key that is sent, with the name of the automation in it', async () => {
    const { sent } = await typed('trigger nightly --idempotency-key day-{automation}');
    expect(sent[0]?.headers['idempotency-key']).toMatch(/^day-.*nightly$/);
  });
});

test('watch --all takes every unfinished run', async () => {
  const { run } = await withMachine();
  for (const name of ['nightly', 'weekly']) await run(`trigger ${name}`);
  const { documents } = await run('watch --all --json');
  expect(documents.map(({ automationName }) => automationName)).toEqual(['nightly', 'weekly']);
});
