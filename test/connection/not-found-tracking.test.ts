import { describe, expect, test } from 'vitest';
import { withNotFoundTracking } from '../../src/connection/connect.ts';
import type { Run } from '../../src/runs/run.ts';
import { fault, resultOf, run, running, scriptedService, target } from '../helpers/scripted-service.ts';

const signal = new AbortController().signal;
const baseUrl = 'https://a.test';

function prepare(scripts: Parameters<typeof scriptedService>[0]) {
  const missed: [string, Run, string][] = [];
  const journal = { markNotFound: (...said: [string, Run, string]) => void missed.push(said) };
  return { missed, service: withNotFoundTracking(scriptedService(scripts), journal, baseUrl, async () => 'account') };
}

describe('the journal hears', () => {
  test.each(['status', 'result'] as const)('that a %s is of no run that the service knows', async (operation) => {
    const answer = fault('not_found', { httpStatus: 404 });
    const { service, missed } = prepare({ [operation]: [answer] });
    expect(await service[operation](run, signal)).toEqual(answer);
    expect(missed).toEqual([[baseUrl, run, 'account']]);
  });

  test('nothing of other answers', async () => {
    const request = { target, idempotencyKey: 'key-1', body: '{}' };
    const answers = { trigger: [fault('not_found')], status: [running()], result: [fault('lost'), resultOf('FAILED')] };
    const { service, missed } = prepare(answers);
    await service.trigger(request, signal);
    await service.status(run, signal);
    for (const _ of answers.result) await service.result(run, signal);
    expect(missed).toEqual([]);
  });
});
