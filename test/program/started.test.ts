// What a failure says of the run (`started`, `safeToRepeat`) beside what the service really started.
import { expect, test, vi } from 'vitest';
import type { InjectedFault, Scenario } from '../../src/emulator/scenario.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { runProgram } from '../helpers/run-program.ts';

// The last column: how many runs the service says it was.
const table = `
failure                                          code  started  safe to repeat  really
refused: nothing listens                         10    no       yes             0
refused: a wrong argument                        2     no       yes             0
refused: no credits                              8     no       yes             0
refused: the key                                 7     no       yes             0
refused: no such automation                      6     no       yes             0
refused: too many requests                       9     no       yes             0
refused: a wrong request                         11    no       yes             0
refused: an active run                           5     no       yes             0
refused: an active run that does not end         5     no       yes             0
refused: an active run that nobody names         5     no       yes             0
refused: a discontinued agent                    11    no       yes             0
in doubt: an answer lost for good                12    unknown  no              1
in doubt: the service fails for good             12    unknown  no              0
in doubt: an answer without an id                12    unknown  no              1
in doubt: no credits after a lost answer         12    unknown  no              1
in doubt: our own run after a lost answer        12    unknown  no              1
in doubt: an answer lost after a wait            12    unknown  no              1
in doubt: an agent whose answer is lost          12    unknown  no              1
in doubt: Ctrl-C while the answer is awaited     130   unknown  no              1
in doubt: recover, and the answer is lost again  12    unknown  yes             0
started: the key is refused later                14    yes      no              1
started: the result cannot be read               13    yes      no              1
started: the limit passes                        124   yes      no              1
started: Ctrl-C                                  130   yes      no              1
started: a rerun is refused                      1     yes      no              1
started: the answer to a rerun is lost           12    yes      no              2
started: a rerun of a replayed run is refused    1     yes      yes             1
started: a rerun meets an active run             1     yes      no              1
a look: attached, and the limit passes           124   no       yes             0
a look: status of no run                         2     –        –               0
a look: watch of an unknown run                  6     –        –               0
a look: result, and the service fails            10    –        –               0
`;

interface Case {
  argv: string[];
  scenario?: Scenario;
  /** Typed before it. */
  earlier?: string[];
  /** On another machine: this one does not know of it. */
  elsewhere?: boolean;
  /** Ctrl-C as soon as so many requests have come. */
  interruptAfter?: number;
}

const id = 'a6f0c3e1-7d51-4d5c-9a70-94b5c2d1e001';
const trigger = ['trigger', 'nightly', '--give-up-after', '300ms'];
const watch = [...trigger, '--watch', '--interval', '20ms'];
const attach = [...watch, '--if-active', 'attach', '--timeout', '100ms'];
const rerun = [...watch, '--rerun-on', 'reaped', '--max-reruns', '2'];
const active = { earlier: ['trigger', 'nightly'], elsewhere: true };
const short = (plan = {}): Scenario => ({ automations: { '*': { duration: '50ms', ...plan } } });
const failing = short({ outcome: 'FAILED', error: { type: 'reaped', message: '' } });
const faulty = (...faults: InjectedFault[]): Scenario => ({ faults });
const loss: InjectedFault = { on: 'trigger', do: 'loseAnswer' };
const unpaid: InjectedFault = { on: 'trigger', do: 'status', status: 402 };
const conflict = { code: 'runAlreadyActive', executionId: id };

const cases: Record<string, Case> = {
  'refused: nothing listens': { argv: [...trigger, '--base-url', 'http://127.0.0.1:1'] },
  'refused: a wrong argument': { argv: ['trigger', '..'] },
  'refused: no credits': { argv: trigger, scenario: { credits: 0 } },
  'refused: the key': { argv: trigger, scenario: faulty({ do: 'revokeKey' }) },
  'refused: no such automation': { argv: trigger, scenario: { automations: {} } },
  'refused: too many requests': {
    argv: trigger,
    scenario: faulty({ do: 'status', status: 429, headers: { 'retry-after': '9' } }),
  },
  'refused: a wrong request': { argv: trigger, scenario: faulty({ do: 'status', status: 400 }) },
  'refused: an active run': { argv: trigger, ...active },
  'refused: an active run that does not end': {
    argv: [...trigger, '--if-active', 'wait', '--timeout', '100ms'],
    ...active,
  },
  'refused: an active run that nobody names': { argv: attach, ...active },
  'refused: a discontinued agent': { argv: ['agent', ...trigger.with(1, id)] },
  'in doubt: an answer lost for good': { argv: trigger, scenario: faulty(loss) },
  'in doubt: the service fails for good': { argv: trigger, scenario: faulty({ do: 'status', status: 503 }) },
  'in doubt: an answer without an id': { argv: trigger, scenario: faulty({ do: 'wrongJson' }) },
  'in doubt: no credits after a lost answer': { argv: trigger, scenario: faulty({ ...loss, nth: 1 }, unpaid) },
  'in doubt: our own run after a lost answer': {
    argv: trigger,
    scenario: { order: 'activeFirst', ...faulty({ ...loss, nth: 1 }) },
  },
  'in doubt: an answer lost after a wait': {
    argv: [...trigger, '--if-active', 'wait'],
    scenario: { ...short({ duration: '1m' }), namesActiveRun: true, ...faulty({ ...loss, from: 3 }) },
    ...active,
  },
  'in doubt: an agent whose answer is lost': {
    argv: ['agent', ...trigger.with(1, id)],
    scenario: { agents: 'accept', ...faulty(loss) },
  },
  'in doubt: Ctrl-C while the answer is awaited': {
    argv: trigger,
    scenario: faulty({ do: 'hang', acts: true }),
    interruptAfter: 1,
  },
  'in doubt: recover, and the answer is lost again': {
    argv: ['recover', '--give-up-after', '100ms'],
    scenario: faulty(loss),
    earlier: trigger,
  },
  'started: the key is refused later': { argv: watch, scenario: faulty({ on: 'status', do: 'revokeKey' }) },
  'started: the result cannot be read': {
    argv: watch,
    scenario: { ...short(), ...faulty({ on: 'result', do: 'status', status: 401 }) },
  },
  'started: the limit passes': { argv: [...watch, '--timeout', '100ms'] },
  'started: Ctrl-C': { argv: watch, interruptAfter: 3 },
  'started: a rerun is refused': { argv: rerun, scenario: { ...failing, credits: 12 } },
  'started: the answer to a rerun is lost': { argv: rerun, scenario: { ...failing, ...faulty({ ...loss, from: 2 }) } },
  'started: a rerun of a replayed run is refused': {
    argv: [...rerun, '--idempotency-key', 'k'],
    scenario: { ...failing, ...faulty({ ...unpaid, from: 3 }) },
    earlier: [...trigger, '--idempotency-key', 'k'],
  },
  'started: a rerun meets an active run': {
    argv: [...rerun, '--if-active', 'attach'],
    scenario: { ...failing, ...faulty({ on: 'trigger', from: 2, do: 'status', status: 422, body: conflict }) },
  },
  'a look: attached, and the limit passes': { argv: attach, scenario: { namesActiveRun: true }, ...active },
  'a look: status of no run': { argv: ['status', '@last'] },
  'a look: watch of an unknown run': { argv: ['watch', id, '-a', 'nightly'] },
  'a look: result, and the service fails': {
    argv: ['result', id, '-a', 'nightly', '--give-up-after', '100ms'],
    scenario: faulty({ do: 'status', status: 500 }),
  },
};

const [, ...rows] = table.trim().split('\n');

test.each(rows.map((row) => row.split(/ {2,}/)))(
  '%s: code %s, started %s, safe to repeat %s',
  async (failure = '', ...expected) => {
    const { argv, scenario = {}, earlier, elsewhere, interruptAfter } = cases[failure] as Case;
    const { emulator, env, clock } = await withEmulator(scenario);
    const state = elsewhere ? `${env.RUNCTL_STATE_DIR}-elsewhere` : env.RUNCTL_STATE_DIR;
    if (earlier) await runProgram(earlier, { env: { ...env, RUNCTL_STATE_DIR: state }, clock });
    const before = emulator.runs().length;
    const interrupt = new AbortController();
    const running = runProgram([...argv, '--json'], { env, clock, signal: interrupt.signal });
    if (interruptAfter) {
      await vi.waitUntil(() => emulator.requests.length >= interruptAfter, { timeout: 10_000, interval: 5 });
      interrupt.abort('SIGINT');
    }
    const { code, stdout } = await running;
    const [{ runctl }] = [JSON.parse(stdout)].flat();
    expect(runctl.exitCode, stdout).toBe(code);
    const { started = '–', safeToRepeat = '–' } = runctl.trigger ?? {};
    const isSafe = typeof safeToRepeat === 'boolean' ? (safeToRepeat ? 'yes' : 'no') : safeToRepeat;
    const really = emulator.runs().length - before;
    expect([code, started, isSafe, really].map(String)).toEqual(expected);
  },
);
