import { expect, test } from 'vitest';
import { createTurns } from '../../src/hooks/on-final.ts';
import { createVirtualClock } from '../helpers/virtual-clock.ts';

test('two turns are taken at once, the others in the order in which they came, also after an action that failed', async () => {
  const clock = createVirtualClock();
  const inTurn = createTurns(2);
  const begun: string[] = [];
  const action = (name: string) => async () => {
    begun.push(`${name} ${clock.elapsedMs()}`);
    await clock.sleep(name === 'a' ? 100 : 300);
    if (name === 'a') throw new Error('failed');
    return name;
  };
  const all = await Promise.allSettled(['a', 'b', 'c', 'd'].map((name) => inTurn(action(name))));
  expect(begun).toEqual(['a 0', 'b 0', 'c 100', 'd 300']);
  expect(all.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
  begun.length = 0;
  const later = clock.elapsedMs();
  await Promise.all(['e', 'f', 'g'].map((name) => inTurn(action(name))));
  expect(begun).toEqual([`e ${later}`, `f ${later}`, `g ${later + 300}`]);
});
