import { expect, test } from 'vitest';
import { faultsOfReply, faultsOfRequest } from './conformity.ts';
import { createHarness } from './harness.ts';

const { trigger, status, result, pass, deliver, automationUrl } = createHarness();
const { request } = deliver('POST', automationUrl('nightly', 'trigger'), { body: '{}' });
const id = trigger('daily').json().executionId;
const statusRequest = deliver('GET', automationUrl('daily', `executions/${id}`)).request;
const resultRequest = deliver('GET', automationUrl('daily', `executions/${id}/result`)).request;
const running = status(id, 'daily');
pass(20_000);
const created = trigger('weekly');
const [ended, endedResult] = [status(id, 'daily'), result(id, 'daily')];

test.each([
  ['a run that is not created RUNNING', request, created, { status: 'COMPLETED' }],
  ['credits in the answer to a trigger', request, created, { creditsCharged: 1 }],
  ['an id that is no UUID', request, created, { executionId: '7' }],
  ['a time that is no timestamp', request, created, { startedAt: 'now' }],
  ['a title', request, created, { title: 'x' }],
  ['credits before the end', statusRequest, running, { creditsCharged: 1 }],
  ['an end before the end', statusRequest, running, { completedAt: '2026-11-21T09:00:00Z' }],
  ['no credits after the end', statusRequest, ended, { creditsCharged: undefined }],
  ['no end after the end', statusRequest, ended, { completedAt: null }],
  ['a state of its own', statusRequest, ended, { status: 'PAUSED' }],
  ['output of a running run', resultRequest, endedResult, { status: 'RUNNING' }],
  ['half a step', resultRequest, endedResult, { summary: { stepCount: 0.5 } }],
  ['an error of its own', resultRequest, endedResult, { error: { type: 'x', message: '' } }],
  ['no error field', resultRequest, endedResult, { error: undefined }],
])('the OpenAPI document refuses %s', (_, asked, reply, change) => {
  expect(faultsOfReply(asked, reply)).toEqual([]);
  expect(faultsOfReply(asked, { ...reply, body: JSON.stringify({ ...reply.json(), ...change }) })).not.toEqual([]);
});

test('the OpenAPI document refuses a success of another endpoint, and accepts any name', () => {
  expect(faultsOfReply(request, { ...created, status: 200 })).not.toEqual([]);
  expect(faultsOfReply(statusRequest, { ...ended, status: 204 })).not.toEqual([]);
  for (const name of ['nightly', 'a/b c', 'Übersicht 🚀']) {
    expect(faultsOfRequest(deliver('POST', automationUrl(name, 'trigger'), { body: '{}' }).request)).toEqual([]);
  }
});
