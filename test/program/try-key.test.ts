// `doctor --try-key`: what it finds out about idempotency keys, beside what the service really does, and when it starts runs.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { Terminal } from '@xterm/headless';
import { expect, test, vi } from 'vitest';
import { loseResponse, type Scenario } from '../fault-kit/scenario.ts';
import { withMachine } from '../helpers/machine.ts';
import type { Ended } from '../helpers/run-program.ts';
import { ScreenStream } from '../helpers/screen-stream.ts';

const trial = 'doctor --try-key nightly --yes';
const short = { automations: { '*': { duration: '10s' } } };
const instant = { automations: { '*': { duration: '1ms' } } };
const refusing = { ...short, order: 'activeFirst', namesActiveRun: true } as const;
const ignoring = { ...short, idempotencyKeys: 'ignored' } as const;

const findingsOf = ({ documents: [{ runctl }] }: Ended): string[] =>
  runctl.doctor.map(({ name, result }: { name: string; result: string }) => `${name} ${result}`);

const seen = ['new_run ok', 'idempotency_keys ok'];
const seenAfterRefusal = ['new_run ok', 'active_run ok', 'run_status ok', 'idempotency_keys ok'];
const unnamed = ['new_run ok', 'active_run warning', 'run_status ok', 'idempotency_keys ok'];
const ignored = ['new_run ok', 'active_run warning', 'run_status ok', 'idempotency_keys warning'];
const unclear = ['new_run ok', 'idempotency_keys failed'];
const unseen = ['new_run ok', 'active_run ok', 'idempotency_keys failed'];
const lost = (nth: number) => [loseResponse({ nth })];
const broken = (on: 'trigger' | 'status', status: number, more = {}) =>
  [{ on, do: 'status', status, ...more }] as const;

test.each<[string, Scenario, code: number, runs: number, findings: string[], says?: RegExp]>([
  ['honors keys', short, 0, 1, seen, /honored: .*nothing to set/],
  ['checks the active run first', refusing, 0, 1, seenAfterRefusal],
  ['does not name the active run', { ...refusing, namesActiveRun: false }, 0, 1, unnamed],
  ['repeats a refusal', { ...refusing, replayErrors: true }, 0, 1, seenAfterRefusal],
  [
    'finds its run late',
    { ...refusing, automations: { '*': { duration: '10s', statusLate: '45s' } } },
    0,
    1,
    seenAfterRefusal,
  ],
  [
    'has a firewall that refuses the first poll',
    { ...refusing, faults: broken('status', 401, { nth: 1 }) },
    0,
    1,
    seenAfterRefusal,
  ],
  ['asks for a wait', { ...short, faults: broken('trigger', 429, { nth: 2 }) }, 0, 1, seen],
  ['ignores keys', ignoring, 0, 2, ignored, /ignored: .*started a second run.*repeated before may have started two/],
  ['lets nobody poll', { ...refusing, faults: broken('status', 401) }, 12, 1, unseen, /API key was refused/],
  ['has no credits', { credits: 0 }, 12, 0, ['idempotency_keys failed'], /"no_credits".*HTTP 402/],
  ['loses the first answer', { ...short, faults: lost(1) }, 12, 1, ['idempotency_keys failed'], /look in the service/],
  [
    'loses the second answer',
    { ...ignoring, ...instant, faults: lost(2) },
    12,
    2,
    unclear,
    /may have started a second run/,
  ],
  [
    'fails after the run has finished',
    { ...ignoring, ...refusing, idempotencyKeys: 'ignored', faults: broken('trigger', 503, { from: 3, acts: true }) },
    12,
    2,
    ['new_run ok', 'active_run ok', 'run_status ok', 'idempotency_keys failed'],
    /may have started a second run/,
  ],
])('doctor --try-key finds a service that %s', async (_, scenario, code, runs, findings, says = /./) => {
  const { run, ids } = await withMachine(scenario);
  const ended = await run(`${trial} --json`);
  expect([ended.code, ids().length, findingsOf(ended)]).toEqual([code, runs, findings]);
  const { doctor, problem } = ended.documents[0].runctl;
  expect(JSON.stringify([doctor, problem])).toMatch(says);
});

test.each<[string, Scenario, env: string | undefined, flag: string, line: string | undefined]>([
  ['is honored', short, undefined, '', undefined],
  ['is honored, though said to be ignored', short, 'ignored', '', 'honored'],
  ['is ignored', ignoring, undefined, '', 'ignored'],
  ['is ignored, and said to be', ignoring, 'ignored', '', undefined],
  ['is ignored, in a profile', ignoring, undefined, ' --profile staging', 'ignored --profile staging'],
])(
  'doctor --try-key prints for a key that %s how to correct the setting, unless it is correct',
  async (_, scenario, setting, flag, line) => {
    const { run, store } = await withMachine(scenario);
    store({ staging: {} });
    const { stdout } = await run(trial + flag, { env: { RUNCTL_IDEMPOTENCY_KEYS: setting } });
    const printed = /^ +runctl config set idempotencyKeys (.*)$/m.exec(stdout)?.[1];
    expect(printed).toBe(line);
  },
);

test.each<[string, Scenario]>([
  ['in_doubt', { ...short, faults: lost(2) }],
  ['refused', refusing],
])('the repeated trigger is recorded, even if it is %s, and nothing is left to recover', async (end, scenario) => {
  const { run, records } = await withMachine(scenario);
  await run(trial);
  const ofTriggers = records().flatMap(({ type }) => (type === 'status' ? [] : type));
  expect(ofTriggers.slice(0, 4)).toEqual(['triggered', 'accepted', 'triggered', end]);
  expect((await run('recover --json')).documents).toEqual([]);
});

test('the document names the automation and the run, and `list` both runs', async () => {
  const { run, ids } = await withMachine(ignoring);
  const { documents } = await run(`${trial} --json`);
  expect(documents).toMatchObject([{ executionId: ids()[0], automationName: 'nightly', runctl: { outcome: 'ok' } }]);
  expect((await run('list --offline -q')).stdout.trim().split('\n')).toEqual(ids().toReversed());
});

test.each([
  ['n', 0],
  ['', 0],
  ['y', 1],
])('after the answer "%s", doctor --try-key starts this number of runs: %d', async (word, runs) => {
  const { run, emulator, ids } = await withMachine(short);
  const keyboard = Object.assign(new PassThrough(), { isTTY: true });
  const screen = new ScreenStream(new Terminal({ allowProposedApi: true }));
  const ended = run('doctor --try-key nightly', { input: keyboard, screen });
  await vi.waitUntil(() => screen.written.includes('[y/N]'), { timeout: 10_000, interval: 5 });
  expect(emulator.requests).toEqual([]);
  keyboard.write(`${word}\r`);
  expect((await ended).code).toBe(0);
  expect([ids().length, emulator.requests.length > 0]).toEqual([runs, runs > 0]);
});

test.each([
  ['doctor --try-key without --yes, where nobody can be asked,', 'doctor --try-key nightly', /nightly.*--yes/s],
  ['doctor --try-key with --offline', `${trial} --offline`, /--offline/],
  ['doctor with --yes alone', 'doctor --yes', /--try-key/],
])('%s exits with 2, and sends nothing', async (_, line, says) => {
  const { run, emulator } = await withMachine();
  const { code, stderr } = await run(line);
  expect([code, stderr, emulator.requests]).toEqual([2, expect.stringMatching(says), []]);
});

test('the words to look for in docs/service.md are those that doctor prints', async () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/service.md'), 'utf8');
  const words = [...page.matchAll(/^\| `runctl doctor.*?\| "(.*?)" \||^\| the same \| "(.*?)" \|/gm)];
  const { run } = await withMachine(refusing);
  const [tried, checked] = [await run(trial), await run('doctor')];
  const printed = (tried.stdout + checked.stdout).replaceAll(/\s+/g, ' ');
  expect(words).toHaveLength(3);
  for (const [, one, other] of words) expect(printed).toContain(one ?? other);
});
