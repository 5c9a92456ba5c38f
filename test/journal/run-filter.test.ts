import { expect, test } from 'vitest';
import { isMatch, type RunFilter, textsOf } from '../../src/journal/run-filter.ts';
import type { Target } from '../../src/runs/run.ts';
import { baseUrl, nightly, projectId, weekly } from './records.ts';

test.each<[RunFilter, string[] | undefined]>([
  [{}, undefined],
  [{ baseUrl, automations: [] }, undefined],
  [{ hasRun: true }, ['"executionId"']],
  [{ target: nightly }, [`"automation/${projectId}/nightly"`]],
  [{ target: weekly, automations: [{ automationName: 'nightly' }] }, [`"automation/${projectId}/weekly/report"`]],
  [{ automations: [{ automationName: 'nightly', projectId }], hasRun: true }, ['/nightly"']],
  [{ automations: [{ automationName: 'nightly' }, { automationName: 'weekly' }] }, ['/nightly"', '/weekly"']],
  [{ automations: [{ automationName: 'a "b"' }] }, ['/a \\"b\\""']],
  [{ idPrefix: '4Bd' }, ['"4Bd', '"4bd', '"4BD']],
])('lines are searched for what stands in every record that %j chooses: %j', (filter, texts) => {
  expect(textsOf(filter)).toEqual(texts);
});

const stored = { schema: 1, at: '', type: 'not_found', baseUrl, executionId: '4B7c' } as const;

test.each<[RunFilter, Target, boolean]>([
  [{}, nightly, true],
  [{ baseUrl }, nightly, true],
  [{ baseUrl: `${baseUrl}/other` }, nightly, false],
  [{ target: weekly }, weekly, true],
  [{ target: weekly }, nightly, false],
  [{ automations: [{ automationName: 'nightly' }] }, nightly, true],
  [{ automations: [{ automationName: 'nightly' }] }, weekly, false],
  [{ automations: [{ automationName: 'weekly/report' }] }, weekly, true],
  [{ automations: [{ automationName: 'report' }] }, weekly, false],
  [{ automations: [{ automationName: 'nightly', projectId }] }, nightly, true],
  [{ automations: [{ automationName: 'nightly', projectId: 'another' }] }, nightly, false],
  [{ automations: [] }, nightly, true],
  [{ automations: [{ automationName: 'other' }, { automationName: 'nightly' }] }, nightly, true],
  [{ idPrefix: '4b7' }, nightly, true],
  [{ idPrefix: 'b7' }, nightly, false],
  [{ hasRun: true }, nightly, true],
])('%j chooses a record of %s: %s', (filter, target, expected) => {
  expect(isMatch({ ...stored, target }, filter)).toBe(expected);
});
