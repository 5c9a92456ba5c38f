import { expect, test } from 'vitest';
import { executionId, fault, resultOf, run, running, scriptedService, state } from '../helpers/scripted-service.ts';
import { second, watch } from './watch-one.ts';

test.each([
  ['COMPLETED', 'FAILED', 'FAILED'],
  ['FAILED', 'COMPLETED', 'FAILED'],
  ['CANCELLED', 'TIMED_OUT', 'TIMED_OUT'],
])(
  'a watch of a run that is %s, and %s by its result, says that it is %s, and that they differ',
  async (status, byResult, graver) => {
    const service = scriptedService({ status: [state(status)], result: [resultOf(byResult)] });
    expect((await watch(service)).watched).toEqual({
      kind: 'finished',
      run,
      execution: { executionId, status: graver, isFinal: true, document: { executionId, status: graver } },
      result: { status: graver, isFinal: true, output: 'done', document: { status: graver, output: 'done' } },
      disagreement: { status, result: byResult },
    });
  },
);

test('a watch sees no difference in the spelling of a status', async () => {
  const service = scriptedService({ status: [state('COMPLETED')], result: [resultOf('Completed')] });
  expect((await watch(service)).watched).not.toHaveProperty('disagreement');
});

test.each<[string, Parameters<typeof resultOf>[0] | 'too_large', number, object]>([
  ['that is too large is not asked for again', 'too_large', 1, { kind: 'too_large' }],
  ['that is not final is awaited', 'RUNNING', 8, { kind: 'unreadable', message: 'the result still says RUNNING' }],
])('of a finished run, a result %s', async (_, answer, requests, resultFault) => {
  const result = [answer === 'too_large' ? fault('too_large') : resultOf(answer)];
  const service = scriptedService({ status: [running(), state('COMPLETED')], result });
  const { watched, events } = await watch(service, { giveUpAfterMs: 20 * second });
  expect(watched).toMatchObject({ kind: 'finished', execution: { status: 'COMPLETED' }, resultFault });
  expect(service.calls.result).toBe(requests);
  const failures = events.filter(({ event }) => event === 'attempt_failed').slice(0, 2);
  const failure = { operation: 'result', execution: { status: 'COMPLETED' } };
  expect(failures).toMatchObject(
    requests === 1
      ? []
      : [
          { ...failure, ageMs: 0 },
          { ...failure, ageMs: 250 },
        ],
  );
});

test('a watch leaves a finished run without its result where the timeout passes before its turn comes', async () => {
  const service = scriptedService({ status: [state('COMPLETED')] });
  const { watched } = await watch(service, { timeoutMs: 10 * second }, { rate: 1 / 60 });
  const resultFault = { kind: 'lost', message: '`--timeout` expired' };
  expect(watched).toMatchObject({ kind: 'finished', execution: { status: 'COMPLETED' }, resultFault });
});

test("a watch keeps the final status of a run whose result can't be read", async () => {
  const service = scriptedService({ status: [state('FAILED')], result: [fault('unauthorized')] });
  const { watched } = await watch(service);
  const resultFault = { kind: 'unauthorized' };
  expect(watched).toMatchObject({ kind: 'finished', execution: { status: 'FAILED' }, resultFault });
});
