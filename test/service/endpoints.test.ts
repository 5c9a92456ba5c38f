import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Target } from '../../src/run/run.ts';
import { executionIdIn, resultPath, statusPath, targetPath, triggerPath } from '../../src/service/endpoints.ts';
import { anyCharacter } from '../helpers/any-character.ts';
import { executionId, projectId } from '../helpers/scripted-service.ts';

const automation = (automationName: string): Target => ({ projectId, automationName });
const anyName = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => text !== '.' && text !== '..');

describe('the paths of the interface', () => {
  test.each([
    ['nightly', 'nightly'],
    ['nightly report', 'nightly%20report'],
    ['a/b', 'a%2Fb'],
    ['100%', '100%25'],
    ['a?b#c&d', 'a%3Fb%23c%26d'],
    ['über 🚀', '%C3%BCber%20%F0%9F%9A%80'],
    ['a\r\nb', 'a%0D%0Ab'],
    ['half a pair \uD83D', 'half%20a%20pair%20%EF%BF%BD'],
  ])('encode the name %j as %s', (name, encoded) => {
    const base = `/v0/automation/${projectId}/${encoded}`;
    const run = { target: automation(name), executionId };
    expect(triggerPath(run.target)).toBe(`${base}/trigger`);
    expect(statusPath(run)).toBe(`${base}/executions/${executionId}`);
    expect(resultPath(run)).toBe(`${base}/executions/${executionId}/result`);
  });

  test('give every name back when they are decoded, even from a URL', () => {
    fc.assert(
      fc.property(anyName, (name) => {
        const parts = new URL(`http://x.test${triggerPath(automation(name))}`).pathname.split('/');
        expect([parts.length, decodeURIComponent(parts[4] ?? '')]).toEqual([6, name]);
      }),
    );
  });
});

describe('a Location', () => {
  const target = automation('a/b ü');
  const path = statusPath({ target, executionId });
  const asked = (prefix = '', of = target) => {
    const baseUrl = `https://service.test${prefix}`;
    return { baseUrl, url: baseUrl + triggerPath(of), targetPath: targetPath(of) };
  };

  test.each([
    path,
    resultPath({ target, executionId }),
    `${path}/`,
    `${path}?a=b#c`,
    `https://service.test${path}`,
    `HTTPS://Service.TEST:443${path}`,
    `http://service.test${path}`,
    `//service.test${path}`,
    `executions/${executionId}`,
    `./executions/${executionId}`,
    path.toUpperCase().replace('/V0/AUTOMATION', '/v0/automation').replace('EXECUTIONS', 'executions'),
    path.replace('%C3%BC', 'ü').replace('%20', ' '),
  ])('%s leads to a run of the target', (location) => {
    for (const prefix of ['', '/gate']) expect(executionIdIn(location, asked(prefix))?.toLowerCase()).toBe(executionId);
  });

  test('may have the path prefix of the base URL, or not', () => {
    expect(executionIdIn(`/gate${path}`, asked('/gate'))).toBe(executionId);
    expect(executionIdIn(`/gate${path}`, asked())).toBeUndefined();
    expect(executionIdIn(`/other${path}`, asked('/gate'))).toBeUndefined();
  });

  test.each([executionId.toUpperCase(), '7'])('gives the id as it is written: %s', (id) => {
    expect(executionIdIn(statusPath({ target, executionId: id }), asked())).toBe(id);
  });

  test.each([
    '',
    '/login',
    triggerPath(target),
    `${targetPath(target)}/executions/`,
    `${targetPath(target)}/executions/%ff`,
    `${targetPath(target)}/runs/${executionId}`,
    statusPath({ target: automation('nightly'), executionId }),
    statusPath({ target: { ...target, projectId: executionId }, executionId }),
    `https://other.test${path}`,
    `https://service.test.evil${path}`,
    `https://service.test:8443${path}`,
    `ftp://service.test${path}`,
    `xhttps://service.test${path}`,
    `/v0/automation/%ff/executions/${executionId}`,
    `/login?next=${path}`,
    'https://',
    'javascript:alert(1)',
  ])('%s leads elsewhere', (location) => expect(executionIdIn(location, asked())).toBeUndefined());

  test('is read from any text without an error, and gives the id back for any name', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), anyName, fc.uuid(), (location, name, id) => {
        expect(() => executionIdIn(location, asked('/gate'))).not.toThrow();
        const named = automation(name);
        expect(executionIdIn(statusPath({ target: named, executionId: id }), asked('/gate', named))).toBe(id);
      }),
    );
  });
});
