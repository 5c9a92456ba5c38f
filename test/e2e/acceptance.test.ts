// The script that tries the assumptions of docs/service.md on a service, tried on services that differ in one each.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { Scenario } from '../../src/emulator/scenario.ts';
import { startEmulator } from '../../src/emulator/server.ts';
import { environmentIn } from '../helpers/environment-in.ts';
import { runCommand } from '../helpers/run-process.ts';

const script = join(import.meta.dirname, '../../.config/acceptance.mjs');
// Long enough for a second trigger to meet the run on a busy machine.
const plan = { duration: '3s' };
const usual: Scenario = { automations: { '*': plan }, namesActiveRun: true };
const adding = (extra: object): Scenario => ({ ...usual, automations: { '*': { ...plan, extra } as typeof plan } });
const refusing = (code: string, status: number, body: unknown): Scenario => ({
  ...usual,
  refusals: { [code]: { status, body } },
});
const fiveHoursAgo = () => new Date(Date.now() - 18_000_000).toISOString().replace('Z', '');

interface Service {
  scenario: Scenario;
  /** The assumptions that don't hold for it. */
  differs: string[];
  offMs?: number;
  given?: Record<string, string>;
}

const services: Record<string, Service> = {
  'the emulator': { scenario: usual, differs: [] },
  'one that checks for an active run first, with nested errors, one of them a 404': {
    scenario: {
      ...refusing('notFound', 404, { error: { code: 'notFound' } }),
      order: 'activeFirst',
      errorShape: 'nested',
    },
    differs: ['A missing run is a 422 in JSON'],
  },
  'one that ignores idempotency keys': {
    scenario: { ...usual, idempotencyKeys: 'ignored' },
    differs: ['Idempotency keys work for Automations', 'A key is remembered when its run has finished'],
  },
  "one that doesn't name the active run": {
    scenario: { ...usual, namesActiveRun: false },
    differs: ['A conflict names the active run'],
  },
  'one with 400 for a wrong API key': {
    scenario: refusing('invalidApiKey', 400, { code: 'nope' }),
    differs: ['A wrong API key is a 401 or 403'],
  },
  'one with errors of its own': {
    scenario: refusing('notFound', 422, { fault: { reason: 7 } }),
    differs: ['Error bodies have a usual shape'],
  },
  'one behind a gateway with pages': {
    scenario: { ...usual, faults: [{ on: 'result', nth: 1, do: 'html' }] },
    differs: ['No proxy or gateway answers for the service'],
  },
  'one with a status of its own': {
    scenario: adding({ status: 'ARCHIVED' }),
    differs: ['Statuses are the documented ones'],
  },
  'one with another type for a field': {
    scenario: adding({ completedAt: 5 }),
    differs: ['The documented fields have their types'],
  },
  'one with local times': {
    scenario: adding({ createdAt: fiveHoursAgo() }),
    differs: ['Times without an offset are UTC'],
  },
  'one that is an hour ahead': { scenario: usual, offMs: 3_600_000, differs: ['The clocks agree'] },
  'one without credits': { scenario: adding({ creditsCharged: null }), differs: ['Credits are reported'] },
  'one that limits the rate': {
    scenario: { ...usual, rateLimit: { requests: 1, window: '2s' } },
    differs: ['Five triggers are no reason for a 429'],
  },
};

/** What the script says of a service, by its marks, and the scenario that it saves. */
async function accept({ scenario, offMs = 0, given = {} }: Omit<Service, 'differs'>) {
  const emulator = await startEmulator({ scenario, nowMs: () => Date.now() + offMs, apiKey: 'test-key-4f1b7c9d2e' });
  const folder = mkdtempSync(join(tmpdir(), 'acceptance-test-'));
  const { RUNCTL_BASE_URL: url = '', ...env } = environmentIn(folder, emulator);
  const argv = [
    process.execPath,
    script,
    given.url ?? url,
    'smoke',
    '--yes',
    '--timeout',
    '6s',
    '--save',
    join(folder, 'saved.json'),
  ];
  const { code, stdout, stderr } = await runCommand(argv, { env: { ...env, ...given, PATH: process.env.PATH } });
  const ids = emulator.runs().map(({ executionId }) => executionId);
  await emulator.close();
  const marked = (mark: string) =>
    stdout.split('\n').flatMap((line) => (line.startsWith(mark) ? [line.slice(2).replace(/:.*/, '')] : []));
  const file = join(folder, 'saved.json');
  const saved = existsSync(file) ? readFileSync(file, 'utf8') : '';
  rmSync(folder, { recursive: true });
  return { code, stderr, ids, no: marked('✖'), yes: marked('✔'), saved };
}

/** The others take half a minute of CPU time, and a replay ten seconds, so they are tried where `CI` is set. */
const tried = Object.entries(services).filter(([name]) => process.env.CI || name.includes('404'));

const ended = new Map<string, Awaited<ReturnType<typeof accept>>>();

// A few at a time, as most of their time is waiting.
beforeAll(async () => {
  const waiting = [...tried];
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) ended.set(next[0], await accept(next[1]));
  };
  await Promise.all([worker(), worker(), worker(), worker(), worker()]);
}, 180_000);

test.each(tried)('says of %s what does not hold', (name, { differs }) => {
  const { code, stderr, no, ids } = ended.get(name) ?? {};
  expect({ no, stderr }).toEqual({ no: differs, stderr: '' });
  expect(code).toBe(differs.length > 0 ? 1 : 0);
  expect(ids?.length).toBeLessThanOrEqual(5);
});

const savedBy404 = () => [...ended].find(([name]) => name.includes('404'))?.[1];

test('the answers are saved without keys and ids', () => {
  const { saved = '', ids = [] } = savedBy404() ?? {};
  for (const secret of ['test-key', 'acceptance-', ...ids]) expect(saved).not.toContain(secret);
  expect(JSON.parse(saved)).toMatchObject({ order: 'activeFirst', refusals: { notFound: { body: { error: {} } } } });
});

test.runIf(process.env.CI)('an emulator that replays the answers is found to be the same', async () => {
  const { saved = '', code, yes, no } = savedBy404() ?? {};
  expect(await accept({ scenario: JSON.parse(saved) })).toMatchObject({ code, yes, no });
});

test.each<[string, Record<string, string>, RegExp]>([
  ['without an API key', { RUNCTL_API_KEY: '' }, /API key/],
  ['with an API key that is refused', { RUNCTL_API_KEY: 'another-key-4711' }, /API key/],
  ['without a project', { RUNCTL_PROJECT: '' }, /project/],
  ['without an answer', { url: 'http://127.0.0.1:1' }, /doctor/],
])('it starts nothing %s, and says why', async (_, given, message) => {
  const { code, stderr, ids } = await accept({ scenario: usual, given });
  expect([code, ids]).toEqual([2, []]);
  expect(stderr).toMatch(message);
});

test('nothing is sent before it is allowed', async () => {
  const { code, stderr } = await runCommand([process.execPath, script, 'http://127.0.0.1:1', 'smoke']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('Add --yes to allow it')]);
});
