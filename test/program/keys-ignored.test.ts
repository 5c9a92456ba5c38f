// What is said and done at a service that ignores idempotency keys, beside what that service really did.
import { describe, expect, test } from 'vitest';
import type { Scenario } from '../fault-kit/scenario.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { runProgram } from '../helpers/run-program.ts';

type Step = { type: string[]; ends: string; says?: RegExp } | 'the runs finish';

const loss = { on: 'trigger', nth: 1, do: 'loseAnswer' } as const;
const short = { '*': { duration: '10s' } };
const instant = { '*': { duration: '1ms' } };
const trigger = ['trigger', 'nightly'];
const given = [...trigger, '--idempotency-key', 'k'];
const waiting = [...given, '--if-active', 'wait'];
const recover = ['recover'];

/** The setting, the exit code with `how` and `started` of each step, and how many runs the service has started in the end. */
const histories: [string, 'ignored' | undefined, Scenario, Step[], number][] = [
  [
    'lost: the trigger is not repeated, and says why, and `recover` sends nothing',
    'ignored',
    { faults: [loss] },
    [
      { type: trigger, ends: '12 unknown unknown', says: /isn't sent again: .* a second run could start/ },
      { type: [...recover, '--dry-run'], ends: '0 unknown unknown', says: /the service ignores idempotency keys/ },
      'the runs finish',
      {
        type: recover,
        ends: '12 unknown unknown',
        says: /a second run could start.*look in the service for a run of nightly that began at about/s,
      },
    ],
    1,
  ],
  [
    'lost: `recover --resend` is somebody’s word, and what it starts is not called recovered',
    'ignored',
    { faults: [loss] },
    [
      { type: trigger, ends: '12 unknown unknown' },
      'the runs finish',
      { type: [...recover, '--resend'], ends: '0 recovered unknown' },
    ],
    2,
  ],
  [
    'lost under a given key: the same command again sends nothing, nor does `--if-active wait`',
    'ignored',
    { faults: [loss], automations: instant },
    [given, given, waiting].map((type) => ({ type, ends: '12 unknown unknown', says: /a second run could start/ })),
    1,
  ],
  [
    'a 429 is repeated all the same',
    'ignored',
    { faults: [{ on: 'trigger', nth: 1, do: 'status', status: 429 }], automations: instant },
    [{ type: trigger, ends: '0 started yes' }],
    1,
  ],
  [
    'nobody said so: the trigger is repeated, and what `recover` starts is not called recovered',
    undefined,
    { faults: [loss], namesActiveRun: true },
    [
      { type: trigger, ends: '12 unknown unknown', says: /runctl watch/ },
      'the runs finish',
      { type: recover, ends: '0 recovered unknown' },
    ],
    2,
  ],
  [
    'nobody said so, and the run has ended before the repeat: nothing is said of the first attempt',
    undefined,
    { faults: [loss], automations: instant },
    [{ type: trigger, ends: '0 started yes', says: /started nightly/ }],
    2,
  ],
  [
    'the same under a given key: nobody claims the run',
    undefined,
    { faults: [loss], automations: instant },
    [{ type: given, ends: '0 found unknown', says: /idempotency key k/ }],
    2,
  ],
];

describe('at a service that ignores idempotency keys', () => {
  test.each(histories)('%s', async (_, setting, scenario, steps, runs) => {
    const { env, clock, emulator } = await withEmulator({
      automations: short,
      ...scenario,
      idempotencyKeys: 'ignored',
    });
    for (const step of steps) {
      if (step === 'the runs finish') {
        await clock.sleep(60_000);
        continue;
      }
      const { code, stdout, stderr } = await runProgram([...step.type, '--json'], {
        env: { ...env, RUNCTL_IDEMPOTENCY_KEYS: setting },
        clock,
      });
      const [{ runctl }] = jsonLines(stdout) as [{ runctl: { trigger?: { how: string; started: string } } }];
      const { how, started } = runctl.trigger ?? {};
      expect([code, how, started].join(' '), stderr).toBe(step.ends);
      if (step.says) expect(stdout + stderr).toMatch(step.says);
    }
    expect(emulator.runs()).toHaveLength(runs);
  });
});

test('where keys are ignored, no program is told to send a trigger again: `next` is null, and the hint is for a person', async () => {
  const { env, clock } = await withEmulator({ idempotencyKeys: 'ignored', faults: [loss] });
  const known = { ...env, RUNCTL_IDEMPOTENCY_KEYS: 'ignored' };
  for (const argv of [trigger, recover]) {
    const { code, stdout, stderr } = await runProgram([...argv, '--json'], { env: known, clock });
    expect([code, jsonLines(stdout)[0].runctl.next]).toEqual([12, null]);
    expect(stderr).toMatch(/look in the service.*if there is none.*runctl recover .*nightly --resend/s);
  }
});
