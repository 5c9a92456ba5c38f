import { expect, test } from 'vitest';
import type { FinalStatus } from '../../src/run/statuses.ts';
import { withBareMachine } from './bare-machine.ts';
import { blockOf } from './blocks.ts';

const script = blockOf('Again after a failure', 'sh');

test.each<[FinalStatus[], number[], runs: number]>([
  [['FAILED', 'FAILED', 'COMPLETED'], [0, 0], 3],
  [['FAILED', 'TIMED_OUT'], [3, 3], 2],
  [['FAILED'], [1, 1], 3],
])(
  'runs that end as %j, started again after a failure and repeated on the same day',
  async (finalStatus, codes, runs) => {
    const { emulator, run, settings, setDate } = await withBareMachine({
      automations: { nightly: { duration: '1ms', finalStatus } },
    });
    setDate('2026-11-24 04:00');
    const ended: (number | string)[] = [];
    for (const _ of codes) ended.push((await run(['bash', '--norc', '-c', script], { env: settings })).code);
    expect(ended).toEqual(codes);
    expect(emulator.runs()).toHaveLength(runs);
    setDate('2026-11-25 04:00');
    await run(['bash', '--norc', '-c', script], { env: settings });
    expect(emulator.runs().length).toBeGreaterThan(runs);
  },
);
