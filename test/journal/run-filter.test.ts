import { expect, test } from 'vitest';
import { isMatch, needleOf, type RunFilter } from '../../src/journal/run-filter.ts';
import { agent, baseUrl, nightly, projectId, weekly } from './records.ts';

test.each<[RunFilter, string | undefined]>([
  [{}, undefined],
  [{ baseUrl, projectId }, undefined],
  [{ target: nightly }, `"automation/${projectId}/nightly"`],
  [{ target: agent, automation: 'nightly' }, `"agent/${agent.agentId}"`],
  [{ automation: 'nightly', projectId }, `"automation/${projectId}/nightly"`],
  [{ automation: 'nightly' }, '/nightly"'],
  [{ automation: 'a "b"' }, '/a \\"b\\""'],
])('lines are searched for what stands in every record that %j chooses: %s', (filter, needle) => {
  expect(needleOf(filter)).toBe(needle);
});

const stored = { schema: 1, at: '', type: 'not_found', baseUrl, executionId: 'x' } as const;
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
  [{ automation: 'nightly' }, ofNightly, true],
  [{ automation: 'nightly' }, ofWeekly, false],
  [{ automation: 'nightly' }, ofAgent, false],
  [{ automation: 'weekly/report' }, ofWeekly, true],
  [{ automation: 'report' }, ofWeekly, false],
  [{ automation: 'nightly', projectId }, ofNightly, true],
  [{ automation: 'nightly', projectId: 'another' }, ofNightly, false],
  [{ projectId: 'another' }, ofNightly, true],
])('%j chooses a record of %s: %s', (filter, target, expected) => {
  expect(isMatch({ ...stored, target }, filter)).toBe(expected);
});
