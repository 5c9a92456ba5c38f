import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { resultPath, statusPath, triggerPath } from '../../src/api/endpoints.ts';
import { executionId, projectId } from '../helpers/scripted-service.ts';

const automation = (automationName: string) => ({ projectId, automationName }) as const;

describe('the paths of the interface', () => {
  test.each([
    ['nightly', 'nightly'],
    ['nightly report', 'nightly%20report'],
    ['a/b', 'a%2Fb'],
    ['100%', '100%25'],
    ['%2F', '%252F'],
    ['a?b#c&d', 'a%3Fb%23c%26d'],
    ['a+b', 'a%2Bb'],
    ['über 🚀', '%C3%BCber%20%F0%9F%9A%80'],
    ['...', '...'],
    ['a\\b', 'a%5Cb'],
    ['a\r\nb', 'a%0D%0Ab'],
  ])('take the name %j as %s', (name, encoded) => {
    const base = `/v0/automation/${projectId}/${encoded}`;
    const run = { target: automation(name), executionId };
    expect(triggerPath(run.target)).toBe(`${base}/trigger`);
    expect(statusPath(run)).toBe(`${base}/executions/${executionId}`);
    expect(resultPath(run)).toBe(`${base}/executions/${executionId}/result`);
  });

  test('bring every name back whole, through a URL too', () => {
    const name = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => text !== '.' && text !== '..');
    fc.assert(
      fc.property(name, (text) => {
        const { pathname } = new URL(`http://x.test${triggerPath(automation(text))}`);
        const parts = pathname.split('/');
        expect(parts).toHaveLength(6);
        expect(decodeURIComponent(parts[4] ?? '')).toBe(text);
      }),
    );
  });
});
