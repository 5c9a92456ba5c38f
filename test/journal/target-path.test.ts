import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseRecord, pathOf } from '../../src/journal/records.ts';
import type { Target } from '../../src/runs/run.ts';
import { anyCharacter } from '../helpers/any-character.ts';
import { baseUrl } from './records.ts';

const targets: fc.Arbitrary<Target> = fc.record({
  projectId: fc.uuid(),
  automationName: fc.string({ unit: anyCharacter, minLength: 1 }),
});

test('a target survives the way to its path and back', () => {
  fc.assert(
    fc.property(targets, (target) => {
      const record = { schema: 1, at: '2026-11-22T03:00:00Z', type: 'not_found', baseUrl, executionId: 'x' };
      expect(parseRecord(JSON.stringify({ ...record, target: pathOf(target) }))?.target).toEqual(target);
    }),
  );
});

test.each([
  'automation/../x',
  'automation/x/..',
  'automation/x/.',
  'automation/x/\ud800',
  '',
  'nightly',
  'agent/a',
  'automation/x',
  'automation//x',
  'automation/x/',
  'other/x/y',
  'other/agent/a',
])('%j is no path of a target', (path) => {
  const record = { schema: 1, at: '2026-11-22T03:00:00Z', type: 'not_found', baseUrl, executionId: 'x' };
  expect(parseRecord(JSON.stringify({ ...record, target: 'automation/x/y' }))).toBeDefined();
  expect(parseRecord(JSON.stringify({ ...record, target: path }))).toBeUndefined();
});
