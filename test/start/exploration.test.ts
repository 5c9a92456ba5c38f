// Every history of two commands on one machine in which so many things go wrong, played with the program's own rules
// against a small service, and judged by what that service did.
import { describe, expect, test } from 'vitest';
import { rotating } from '../helpers/rotation.ts';
import { commandNames, exploreAll, play, triggerNames, type World } from './exploration.ts';

/** Two where `CI` is set, and `npm run stress -- histories` goes deeper. Else each world tries a third of the sequences. */
const deviations = Number(process.env.DEVIATIONS ?? (process.env.CI ? 2 : 1));

const worlds: World[] = (['honors', 'ignores', 'forgets'] as const).flatMap((keys) =>
  (['keyFirst', 'activeFirst'] as const).flatMap((order) =>
    [false, true].map((ignoresKeys) => ({ keys, order, ignoresKeys, namesActiveRun: true })),
  ),
);
const sequences = triggerNames.flatMap((one) => commandNames.map((other) => [one, other] as const));

let histories = 0;

describe.each(worlds)('a service that $keys keys, checks $order, is said to ignore them: $ignoresKeys', (world) => {
  const tried = process.env.DEVIATIONS ? sequences : rotating(sequences, worlds.indexOf(world));
  test.each(tried)(
    '%s, then %s: nothing is started twice, lost, or told wrongly',
    async (...commands) => {
      const isUsual = !world.ignoresKeys && commands.every((name) => !name.includes('waits'));
      histories += await exploreAll(isUsual ? deviations : Math.max(1, deviations - 1), async (choose) => {
        const taken: unknown[] = [];
        const verdicts = await play(world, commands, (options) => {
          const option = choose(options);
          taken.push(option);
          return option;
        });
        expect([taken, ...verdicts]).toEqual([taken]);
      });
      if (process.env.DEVIATIONS) process.stderr.write(`${histories} histories so far\n`);
    },
    3_600_000,
  );
});
