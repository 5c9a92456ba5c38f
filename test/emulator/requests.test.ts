import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { routeOf } from '../../src/emulator/request.ts';
import { propertyRuns } from '../helpers/property-runs.ts';
import { faultsOfRequest } from './conformity.ts';
import { createHarness, project } from './harness.ts';

const trigger = `/v0/automation/${project}/nightly/trigger`;
const run = '33333333-3333-4333-8333-333333333333';

describe('a request that the document does not know is refused', () => {
  test.each([
    ['without a key', 'POST', trigger, { headers: { 'x-api-key': undefined } }, 401],
    ['without a body', 'POST', trigger, { body: '' }, 415],
    ['with a body of another type', 'POST', trigger, { headers: { 'content-type': 'text/plain' } }, 415],
    ['with broken JSON', 'POST', trigger, { body: '{' }, 400],
    ['with a list for a body', 'POST', trigger, { body: '[]' }, 400],
    ['with null for a body', 'POST', trigger, { body: 'null' }, 400],
    ['with a project that is no UUID', 'POST', '/v0/automation/mine/nightly/trigger', {}, 400],
    ['with a run that is no UUID', 'GET', `/v0/automation/${project}/nightly/executions/7`, {}, 400],
    ['with bytes that are not UTF-8', 'POST', `/v0/automation/${project}/%ff/trigger`, {}, 400],
    ['with a bare slash in the name', 'POST', `/v0/automation/${project}/a/b/trigger`, {}, 404],
    ['with an empty name', 'POST', `/v0/automation/${project}//trigger`, {}, 404],
    ['of another version', 'POST', trigger.replace('v0', 'v1'), {}, 404],
    ['for the list', 'GET', `/v0/automation/${project}/nightly/executions`, {}, 404],
    ['to trigger with GET', 'GET', trigger, {}, 405],
    ['to delete a run', 'DELETE', `/v0/automation/${project}/nightly/executions/${run}`, {}, 405],
  ])('%s', (_, method, url, sending, status) => {
    const { deliver, service } = createHarness();
    const { request, status: answered } = deliver(method, url, { body: '{}', ...sending });
    expect(faultsOfRequest(request)).not.toEqual([]);
    expect(answered).toBe(status);
    expect(service.runs()).toEqual([]);
  });
});

test('a wrong key is refused before anything else is checked', () => {
  const { deliver } = createHarness();
  expect(deliver('POST', '/nowhere', { apiKey: 'key-2' }).json().code).toBe('invalidApiKey');
});

test('the response to a wrong method names the right one', () => {
  const { deliver } = createHarness();
  expect(deliver('PUT', trigger).headers.allow).toBe('POST');
});

test('the document and the route agree on every request', () => {
  const piece = fc.constantFrom('v0', 'automation', project, 'a%20b', '%E0', '', 'trigger', 'executions', 'result');
  const url = fc.array(piece, { minLength: 3, maxLength: 8 }).map((pieces) => `/${pieces.join('/')}`);
  fc.assert(
    fc.property(fc.constantFrom('GET', 'POST', 'PUT'), url, (method, url) => {
      const headers = { 'x-api-key': 'k', 'content-type': 'application/json' };
      const isKnown = faultsOfRequest({ method, url, headers, body: '{}' }).length === 0;
      expect(routeOf({ method, url }).kind !== 'none').toBe(isKnown);
    }),
    { numRuns: propertyRuns(500) },
  );
});

test('a name is received as it was sent, whatever it is', () => {
  const name = fc.string({ unit: 'grapheme', minLength: 1 });
  fc.assert(
    fc.property(name, (automationName) => {
      const url = `/v0/automation/${project}/${encodeURIComponent(automationName)}/trigger?trace=1`;
      const target = { projectId: project, automationName };
      expect(routeOf({ method: 'POST', url })).toMatchObject({ kind: 'trigger', target });
    }),
  );
});
