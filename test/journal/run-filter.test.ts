import { expect, test } from 'vitest';
import { isMatch, type RunFilter, textsOf } from '../../src/journal/run-filter.ts';
import { agent, baseUrl, nightly, projectId, weekly } from './records.ts';

test.each<[RunFilter, string[] | undefined]>([
  [{}, undefined],
  [{ baseUrl, automations: [] }, undefined],
  [{ hasRun: true }, ['"executionId"']],
  [{ target: nightly }, [`"automation/${projectId}/nightly"`]],
  [{ target: agent, automations: [{ automationName: 'nightly' }] }, [`"agent/${agent.agentId}"`]],
  [{ automations: [{ automationName: 'nightly', projectId }], hasRun: true }, ['/nightly"']],
  [{ automations: [{ automationName: 'nightly' }, { automationName: 'weekly' }] }, ['/nightly"', '/weekly"']],
  [{ automations: [{ automationName: 'a "b"' }] }, ['/a \\"b\\""']],
  [{ idPrefix: '4Bd' }, ['"4Bd', '"4bd', '"4BD']],
])('lines are searched for what stands in every record that %j chooses: %j', (filter, texts) => {
  expect(textsOf(filter)).toEqual(texts);
});

const stored = { schema: 1, at: '', type: 'not_found', baseUrl, executionId: '4B7c' } as const;
const [ofNightly, ofWeekly, ofAgent] = [
  `automation/${projectId}/nightly`,
  `automation/${projectId}/weekly/report`,
  'agent/nightly',
];

test.each<[RunFilter, string, boolean]>([
  [{}, ofNightly, true],
  [{ baseUrl }, ofNightly, true],
  [{ baseUrl: `${baseUrl}/other` }, ofNightly, false],
  [{ target: weekly }, ofWeekly, true],
  [{ target: weekly }, ofNightly, false],
  [{ automations: [{ automationName: 'nightly' }] }, ofNightly, true],
  [{ automations: [{ automationName: 'nightly' }] }, ofWeekly, false],
  [{ automations: [{ automationName: 'nightly' }] }, ofAgent, false],
  [{ automations: [{ automationName: 'weekly/report' }] }, ofWeekly, true],
  [{ automations: [{ automationName: 'report' }] }, ofWeekly, false],
  [{ automations: [{ automationName: 'nightly', projectId }] }, ofNightly, true],
  [{ automations: [{ automationName: 'nightly', projectId: 'another' }] }, ofNightly, false],
  [{ automations: [] }, ofNightly, true],
  [{ automations: [{ automationName: 'other' }, { automationName: 'nightly' }] }, ofNightly, true],
  [{ idPrefix: '4b7' }, ofNightly, true],
  [{ idPrefix: 'b7' }, ofNightly, false],
  [{ hasRun: true }, ofNightly, true],
])('%j chooses a record of %s: %s', (filter, target, expected) => {
  expect(isMatch({ ...stored, target }, filter)).toBe(expected);
});
