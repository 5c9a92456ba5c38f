// What the acceptance says of a service that is slow or takes a status back: by the times of the requests that it recorded,
// as no test waits for half a minute.
import { join } from 'node:path';
import { expect, test } from 'vitest';

const { findings } = await import(join(import.meta.dirname, '../.config/acceptance-findings.mjs'));

const id = '4b7c0000-0000-4000-8000-000000000001';
const poll = (atMs: number, status: string) => ({
  ...{ step: 'watch', method: 'GET', path: `/v0/automation/p/smoke/executions/${id}`, status: 200, atMs },
  json: { executionId: id, status },
});
const result = (atMs: number) => ({ ...poll(atMs, 'COMPLETED'), path: `${poll(0, '').path}/result` });

/** The assumptions that hold (`yes`) and that don't (`no`), of a run that was triggered at 0 ms. */
function judge(requests: object[]) {
  const step = { code: 0, document: {} };
  const records = [{ step: 'first', method: 'POST', path: '/trigger', status: 201, atMs: 0 }, ...requests];
  const others = { doctor: step, missing: step, wrongKey: step, trial: step, conflict: step, again: step };
  const found: { name: string; verdict: string }[] = findings({
    ...others,
    first: { ...step, id },
    status: { ...step, id },
    records,
    runs: [id],
  });
  const of = (wanted: string) => found.flatMap(({ name, verdict }) => (verdict === wanted ? name : []));
  return { yes: of('yes'), no: of('no') };
}

const [soon, late] = [30_000, 30_001];
const isFound = 'New runs are found within 30 seconds';
const isReady = 'The result is ready within 30 seconds of the final status';
const staysFinal = 'Final statuses stay';

test.each([
  [isFound, [poll(soon, 'RUNNING')], [poll(late, 'RUNNING')]],
  [isReady, [poll(9_000, 'COMPLETED'), result(9_000 + soon)], [poll(9_000, 'COMPLETED'), result(9_000 + late)]],
  [
    staysFinal,
    [poll(9_000, 'COMPLETED'), poll(12_000, 'COMPLETED')],
    [poll(9_000, 'COMPLETED'), poll(12_000, 'RUNNING')],
  ],
])('%s: seen to hold, and not to', (name, holding, differing) => {
  expect(judge(holding).yes).toContain(name);
  expect(judge(differing).no).toContain(name);
});

test('a run that was never found, or whose result never came, is no proof', () => {
  expect(judge([]).no).toContain(isFound);
  expect(judge([poll(9_000, 'COMPLETED')]).no).toContain(isReady);
});
