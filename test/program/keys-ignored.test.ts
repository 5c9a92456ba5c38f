// What is said and done at a service that ignores idempotency keys, beside what that service really did.
import { describe, expect, test } from 'vitest';
import type { Scenario } from '../../src/emulator/scenario.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { runProgram } from '../helpers/run-program.ts';

type Step = { type: string[]; ends: string; says?: RegExp } | 'the runs finish';

const loss = { on: 'trigger', nth: 1, do: 'loseAnswer' } as const;
const instant = { '*': { duration: '1ms' } };
const trigger = ['trigger', 'nightly'];
const given = [...trigger, '--idempotency-key', 'k'];
const recover = ['recover'];
const tryKey: Step = { type: ['doctor', '--try-key', 'other', '--yes'], ends: '0' };

/** The exit code with `how` and `started` of each step, and how many runs of nightly the service has started in the end. */
const histories: [string, Scenario, Step[], number][] = [
  [
    'lost, then a conflict, then the end of the run: `recover` starts no second run, and says which to look for',
    { faults: [loss] },
    [
      { type: trigger, ends: '12 unknown unknown', says: /may be the one it started/ },
      'the runs finish',
      {
        type: recover,
        ends: '12 unknown unknown',
        says: /look in the service for a run of nightly that began at about/,
      },
    ],
    1,
  ],
  [
    'lost, then a conflict: `recover --resend` is somebody’s word, and what it starts is not called recovered',
    { faults: [loss] },
    [
      { type: trigger, ends: '12 unknown unknown' },
      'the runs finish',
      { type: [...recover, '--resend'], ends: '0 recovered unknown' },
    ],
    2,
  ],
  [
    'lost, and the run has ended before the repeat: nothing is said of the first attempt',
    { faults: [loss], automations: instant },
    [{ type: trigger, ends: '0 started yes', says: /started nightly/ }],
    2,
  ],
  [
    'the same under a given key: nobody claims the run',
    { faults: [loss], automations: instant },
    [{ type: given, ends: '0 found unknown', says: /idempotency key k/ }],
    2,
  ],
  [
    'lost, then a conflict that names the run: nobody claims it',
    { faults: [loss], namesActiveRun: true },
    [{ type: trigger, ends: '12 unknown unknown', says: /runctl watch/ }],
    1,
  ],
  [
    'lost, once keys were seen ignored: the trigger is not repeated, and `recover` sends nothing',
    { faults: [{ ...loss, automation: 'nightly' }], automations: instant },
    [
      tryKey,
      { type: trigger, ends: '12 unknown unknown', says: /was not sent again: the service ignores/ },
      { type: [...recover, '--dry-run'], ends: '0 unknown unknown', says: /the service ignores idempotency keys/ },
      { type: recover, ends: '12 unknown unknown' },
    ],
    1,
  ],
  [
    'lost under a given key, once keys were seen ignored: the same command again sends nothing',
    { faults: [{ ...loss, automation: 'nightly' }], automations: instant },
    [tryKey, { type: given, ends: '12 unknown unknown' }, { type: given, ends: '12 unknown unknown' }],
    1,
  ],
  [
    'a 429 and a refused connection are repeated all the same',
    { faults: [{ on: 'trigger', automation: 'nightly', nth: 1, do: 'status', status: 429 }], automations: instant },
    [tryKey, { type: trigger, ends: '0 started yes' }],
    1,
  ],
];

describe('at a service that ignores idempotency keys', () => {
  test.each(histories)('%s', async (_, scenario, steps, runs) => {
    const { env, clock, emulator, endRuns } = await withEmulator({ ...scenario, idempotencyKeys: 'ignored' });
    for (const step of steps) {
      if (step === 'the runs finish') {
        endRuns();
        continue;
      }
      const { code, stdout, stderr } = await runProgram([...step.type, '--json'], { env, clock });
      const [{ runctl }] = jsonLines(stdout) as [{ runctl: { trigger?: { how: string; started: string } } }];
      const { how, started } = runctl.trigger ?? {};
      expect([code, how, started].filter((part) => part !== undefined).join(' '), stderr).toBe(step.ends);
      if (step.says) expect(stdout + stderr).toMatch(step.says);
    }
    const started = emulator
      .runs()
      .filter(({ target }) => 'automationName' in target && target.automationName === 'nightly');
    expect(started).toHaveLength(runs);
  });
});

test('where keys are ignored, no program is told to send a trigger again: `next` is null, and the hint is for a person', async () => {
  const { env, clock } = await withEmulator({ idempotencyKeys: 'ignored', faults: [loss] });
  const known = { ...env, RUNCTL_IDEMPOTENCY_KEYS: 'ignored' };
  for (const argv of [trigger, recover]) {
    const { code, stdout, stderr } = await runProgram([...argv, '--json'], { env: known, clock });
    expect([code, jsonLines(stdout)[0].runctl.next]).toEqual([12, null]);
    expect(stderr).toMatch(/look in the service.*if there is none.*runctl recover --resend/s);
  }
});
