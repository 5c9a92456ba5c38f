import { expect, test } from 'vitest';
import { answer, badWays, inModeration, type Misdeed, misdeeds, startBadService } from '../../helpers/faults.ts';
import { executionId } from '../../helpers/scripted-service.ts';
import { cellsOf, watchAt } from './matrix.ts';

const state = (status: string) => answer(200, JSON.stringify({ executionId, status, output: 'done' }));

test('every fault has its row in the matrix', () => {
  expect(Object.keys(cellsOf('watch')).sort()).toEqual(Object.keys({ ...misdeeds, ...badWays }).sort());
});

test('a watch is ended by no fault that passes, whether it strikes the state or the result', async () => {
  const inAMinute = ['429, seconds', '429, date', '429, huge', '503, seconds'];
  const passing = Object.entries(cellsOf('watch')).flatMap(([fault, cell]) =>
    misdeeds[fault] && cell.startsWith('10') && !inAMinute.includes(fault) ? [fault] : [],
  );
  const ends = await inModeration(passing, async (fault) => {
    let asked = 0;
    const place = await startBadService(() => {
      asked += 1;
      // The second look, and after the third, which tells of the end, the first request for the result.
      const isStruck = asked === 2 || asked === 4;
      return isStruck ? (misdeeds[fault] as Misdeed) : state(asked === 1 ? 'RUNNING' : 'COMPLETED');
    });
    const { code, document } = await watchAt(place, fault, '20s');
    return [fault, { code, output: document.output, asked: asked >= 5 }];
  });
  const expected = passing.map((fault) => [fault, { code: 0, output: 'done', asked: true }]);
  expect(Object.fromEntries(ends)).toEqual(Object.fromEntries(expected));
}, 120_000);

test('a watch that cannot read the result ends with 13 and the state, whatever the fault', async () => {
  const ends = await inModeration(Object.entries(misdeeds), async ([fault, misdeed]) => {
    const place = await startBadService((head) => (head.includes('/result ') ? misdeed : state('COMPLETED')));
    const { code, document } = await watchAt(place, fault, '1s');
    return [fault, { code, status: document.status, name: document.problem.name }];
  });
  const end = { code: 13, status: 'COMPLETED', name: 'result_unavailable' };
  expect(ends).toEqual(Object.keys(misdeeds).map((fault) => [fault, end]));
}, 120_000);
