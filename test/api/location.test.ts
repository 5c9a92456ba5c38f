import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { resultPath, runIdIn, statusPath, targetPath, triggerPath } from '../../src/api/endpoints.ts';
import type { Target } from '../../src/runs/run.ts';
import { anyCharacter } from '../helpers/any-character.ts';
import { executionId, projectId } from '../helpers/scripted-service.ts';

const target = { projectId, automationName: 'a/b ü' } as const;
const path = statusPath({ target, executionId });

const asked = (prefix: string, of: Target = target) => {
  const baseUrl = `https://service.test${prefix}`;
  return { baseUrl, url: baseUrl + triggerPath(of), target: targetPath(of) };
};

describe('a Location', () => {
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
    for (const prefix of ['', '/gate']) {
      expect(runIdIn(location, asked(prefix))?.toLowerCase()).toBe(executionId);
    }
  });

  test('may have the path prefix of the base URL, or not', () => {
    expect(runIdIn(`/gate${path}`, asked('/gate'))).toBe(executionId);
    expect(runIdIn(`/gate${path}`, asked(''))).toBeUndefined();
    expect(runIdIn(`/other${path}`, asked('/gate'))).toBeUndefined();
  });

  test('keeps the case of the id, and says an id that is no UUID', () => {
    expect(runIdIn(statusPath({ target, executionId: executionId.toUpperCase() }), asked(''))).toMatch(/^6F1C/);
    expect(runIdIn(statusPath({ target, executionId: '7' }), asked(''))).toBe('7');
  });

  test.each([
    '',
    '/',
    '/login',
    triggerPath(target),
    `${targetPath(target)}/executions/`,
    `${targetPath(target)}/runs/${executionId}`,
    statusPath({ target: { ...target, automationName: 'nightly' }, executionId }),
    statusPath({ target: { ...target, projectId: executionId }, executionId }),
    `https://other.test${path}`,
    `https://service.test.evil${path}`,
    `https://service.test:8443${path}`,
    `ftp://service.test${path}`,
    `xhttps://service.test${path}`,
    `httpsx://service.test${path}`,
    `/v0/automation/%ff/executions/${executionId}`,
    `/login?next=${path}`,
    `/login?next=${encodeURIComponent(path)}`,
    `${targetPath(target)}/executions/%ff`,
    'https://',
    'javascript:alert(1)',
  ])('%s leads elsewhere', (location) => expect(runIdIn(location, asked(''))).toBeUndefined());

  test('of any text is read without a throw, and any name brings its id back', () => {
    const name = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => text !== '.' && text !== '..');
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (location) => {
        expect(() => runIdIn(location, asked('/gate'))).not.toThrow();
      }),
    );
    fc.assert(
      fc.property(name, fc.uuid(), (automationName, id) => {
        const named = { ...target, automationName };
        expect(runIdIn(statusPath({ target: named, executionId: id }), asked('/gate', named))).toBe(id);
      }),
    );
  });
});
