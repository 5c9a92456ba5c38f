import { describe, expect, test } from 'vitest';
import { createFaultSelector } from '../../src/emulator/faults.ts';
import type { FaultCondition, InjectedFault } from '../../src/emulator/scenario.ts';
import { createRandom } from '../helpers/random.ts';
import { createEmulatorHarness } from './harness.ts';

const minuteMs = 60_000;

describe('a fault strikes', () => {
  test.each<[string, FaultCondition, string]>([
    ['every request', {}, 'xxxxxxxx'],
    ['the third', { nth: 3 }, '..x.....'],
    ['from the third on', { from: 3 }, '..xxxxxx'],
    ['up to the third', { to: 3 }, 'xxx.....'],
    ['from the third to the fifth', { from: 3, to: 5 }, '..xxx...'],
    ['every third', { every: 3 }, '..x..x..'],
    ['every second from the fifth on', { every: 2, from: 5 }, '.....x.x'],
    ['never', { chance: 0 }, '........'],
  ])('%s', (_, condition, expected) => {
    const select = createFaultSelector([{ ...condition, do: 'reset' }], createRandom(1));
    const struck = Array.from({ length: 8 }, () => (select({ kind: 'status' }) ? 'x' : '.'));
    expect(struck.join('')).toBe(expected);
  });

  test('about as often as its chance says', () => {
    const select = createFaultSelector([{ chance: 0.3, do: 'reset' }], createRandom(7));
    const struck = Array.from({ length: 1000 }, () => select({ kind: 'status' })).filter(Boolean);
    expect(struck.length).toBeGreaterThan(250);
    expect(struck.length).toBeLessThan(350);
  });

  test('requests of its kind and automation alone, and counts no others', () => {
    const select = createFaultSelector([{ on: 'result', automation: 'a', nth: 2, do: 'reset' }], Math.random);
    expect(select({ kind: 'result', automationName: 'a' })).toBeUndefined();
    expect(select({ kind: 'status', automationName: 'a' })).toBeUndefined();
    expect(select({ kind: 'result', automationName: 'b' })).toBeUndefined();
    expect(select({ kind: 'result' })).toBeUndefined();
    expect(select({ kind: 'result', automationName: 'a' })).toBeDefined();
  });

  test.each<[FaultCondition['during'], number[], number[]]>([
    [{ after: '1h', for: '5m' }, [60, 64], [59, 65]],
    [{ after: '1h' }, [60, 600], [59]],
    [{ for: '1h' }, [0, 59], [60]],
  ])('while the run is of the age %j', (during, inside, outside) => {
    const select = createFaultSelector([{ during, do: 'reset' }], Math.random);
    for (const minutes of inside) expect(select({ kind: 'status', ageMs: minutes * minuteMs })).toBeDefined();
    for (const minutes of outside) expect(select({ kind: 'status', ageMs: minutes * minuteMs })).toBeUndefined();
    expect(select({ kind: 'trigger' })).toBeUndefined();
  });

  test('before the next in the list, which counts the request all the same', () => {
    const select = createFaultSelector(
      [
        { nth: 1, do: 'reset' },
        { nth: 2, do: 'close' },
      ],
      Math.random,
    );
    expect([1, 2, 3].map(() => select({ kind: 'status' })?.do)).toEqual(['reset', 'close', undefined]);
  });
});

describe('the service', () => {
  /** How many runs a trigger has started that met the fault, for each kind of fault. */
  const startedRuns: Record<InjectedFault['do'], [InjectedFault, number][]> = {
    status: [
      [{ do: 'status', status: 502 }, 0],
      [{ do: 'status', status: 502, acts: true }, 1],
    ],
    html: [[{ do: 'html' }, 0]],
    reset: [[{ do: 'reset' }, 0]],
    close: [[{ do: 'close', acts: true }, 1]],
    hang: [
      [{ do: 'hang' }, 0],
      [{ do: 'hang', acts: true }, 1],
    ],
    loseAnswer: [[{ do: 'loseAnswer' }, 1]],
    wrongJson: [[{ do: 'wrongJson' }, 1]],
    hangBody: [[{ do: 'hangBody' }, 1]],
    truncate: [[{ do: 'truncate' }, 1]],
    drip: [[{ do: 'drip' }, 1]],
    delay: [[{ do: 'delay', delay: '1s' }, 1]],
    revokeKey: [[{ do: 'revokeKey' }, 0]],
  };

  test.each(Object.values(startedRuns).flat())('with the fault %j has started %d runs', (fault, count) => {
    const harness = createEmulatorHarness({ faults: [{ nth: 1, ...fault }] });
    harness.deliver('POST', harness.automationUrl('nightly', 'trigger'), { body: '{}', key: 'k' });
    expect(harness.service.runs()).toHaveLength(count);
  });

  test('keeps the run of a lost answer under its key', () => {
    const harness = createEmulatorHarness({ faults: [{ nth: 1, do: 'loseAnswer' }] });
    const lost = harness.deliver('POST', harness.automationUrl('nightly', 'trigger'), { body: '{}', key: 'k' });
    expect([lost.wire, lost.reply]).toEqual(['reset', undefined]);
    const again = harness.trigger('nightly', { key: 'k' });
    expect(again.json().executionId).toBe(harness.service.runs()[0]?.executionId);
  });

  test('refuses a revoked key from that request on', () => {
    const { trigger, status } = createEmulatorHarness({
      apiKeys: ['key-2'],
      faults: [{ on: 'status', nth: 2, do: 'revokeKey' }],
    });
    const { executionId } = trigger().json();
    expect([1, 2, 3].map(() => status(executionId).status)).toEqual([200, 401, 401]);
    expect(trigger('other', { apiKey: 'key-2' }).status).toBe(201);
  });
});

describe('a planned answer', () => {
  test.each<[InjectedFault, number, string, RegExp]>([
    [{ do: 'status', status: 503 }, 503, 'application/json; charset=utf-8', /^\{"code":"plannedFault"/],
    [{ do: 'status', status: 418, body: { any: [1] } }, 418, 'application/json; charset=utf-8', /^\{"any":\[1\]\}$/],
    [{ do: 'status', status: 502, body: 'bad' }, 502, 'text/plain; charset=utf-8', /^bad$/],
    [{ do: 'status', status: 502, body: '<p>', headers: { 'Content-Type': 'text/html' } }, 502, 'text/html', /^<p>$/],
    [{ do: 'html' }, 200, 'text/html; charset=utf-8', /^<!doctype html>/],
    [{ do: 'html', status: 504 }, 504, 'text/html; charset=utf-8', /^<!doctype html>/],
    [{ do: 'wrongJson' }, 201, 'application/json; charset=utf-8', /^\{"ok":true\}$/],
  ])('of %j', (fault, status, contentType, body) => {
    const reply = createEmulatorHarness({ faults: [fault] }).trigger();
    expect(reply).toMatchObject({ status, headers: { 'content-type': contentType } });
    expect(reply.body).toMatch(body);
  });
});
