import { expect, test } from 'vitest';
import { networkFaults } from '../../helpers/network-faults.ts';
import { executionId } from '../../helpers/scripted-service.ts';
import { answer, type ServerFault, serverFaults, startFaultyService } from '../../helpers/server-faults.ts';
import { cellsOf, tried, underEach, watchAt } from './matrix.ts';

const state = (status: string) => answer(200, JSON.stringify({ executionId, status, output: 'done' }));

test('every fault has its row in the matrix', () => {
  expect(Object.keys(cellsOf('watch')).sort()).toEqual(Object.keys({ ...serverFaults, ...networkFaults }).sort());
});

test('a watch is ended by no fault that passes, whether it strikes the status or the result', async () => {
  const tooLarge = ['huge body', 'gzip bomb'];
  const passing = tried(Object.entries(cellsOf('watch'))).flatMap(([fault, cell]) =>
    serverFaults[fault] && /^(9|10) .* again$/.test(cell) && !tooLarge.includes(fault) ? [fault] : [],
  );
  const ends = await underEach(passing, async (fault) => {
    let asked = 0;
    const service = await startFaultyService(() => {
      asked += 1;
      // The second poll, and after the third, which reports the end, the first request for the result.
      const isStruck = asked === 2 || asked === 4;
      return isStruck ? (serverFaults[fault] as ServerFault) : state(asked === 1 ? 'RUNNING' : 'COMPLETED');
    });
    const { code, document } = await watchAt(service, fault, '20s');
    return { code, output: document.output, asked: asked >= 5 };
  });
  const expected = passing.map((fault) => [fault, { code: 0, output: 'done', asked: true }]);
  expect(ends).toEqual(Object.fromEntries(expected));
}, 120_000);

test('a watch that cannot read the result ends with 13 and the status, whatever the fault', async () => {
  const faults = tried(Object.keys(serverFaults));
  const ends = await underEach(faults, async (fault) => {
    const serverFault = serverFaults[fault] as ServerFault;
    const service = await startFaultyService((head) => (head.includes('/result ') ? serverFault : state('COMPLETED')));
    const brief = await watchAt(service, fault, '1s');
    // A machine may be so busy that no poll of the status was answered within the second.
    const { code, document } = brief.document.status ? brief : await watchAt(service, fault, '10s');
    return { code, status: document.status, exitCode: document.runctl.exitCode };
  });
  const end = { code: 13, status: 'COMPLETED', exitCode: 13 };
  expect(ends).toEqual(Object.fromEntries(faults.map((fault) => [fault, end])));
}, 120_000);
