import { describe, expect, test } from 'vitest';
import { createFaultPlan } from '../../src/emulator/faults.ts';
import type { Fault, FaultCondition } from '../../src/emulator/scenario.ts';
import { createRandom } from '../helpers/random.ts';
import { createStage } from './stage.ts';

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
    const strike = createFaultPlan([{ ...condition, do: 'reset' }], createRandom(1));
    const struck = Array.from({ length: 8 }, () => (strike({ kind: 'status' }) ? 'x' : '.'));
    expect(struck.join('')).toBe(expected);
  });

  test('about as often as its chance says', () => {
    const strike = createFaultPlan([{ chance: 0.3, do: 'reset' }], createRandom(7));
    const struck = Array.from({ length: 1000 }, () => strike({ kind: 'status' })).filter(Boolean);
    expect(struck.length).toBeGreaterThan(250);
    expect(struck.length).toBeLessThan(350);
  });

  test('requests of its kind and automation alone, and counts no others', () => {
    const strike = createFaultPlan([{ on: 'result', automation: 'a', nth: 2, do: 'reset' }], Math.random);
    expect(strike({ kind: 'result', automationName: 'a' })).toBeUndefined();
    expect(strike({ kind: 'status', automationName: 'a' })).toBeUndefined();
    expect(strike({ kind: 'result', automationName: 'b' })).toBeUndefined();
    expect(strike({ kind: 'result' })).toBeUndefined();
    expect(strike({ kind: 'result', automationName: 'a' })).toBeDefined();
  });

  test.each<[FaultCondition['during'], number[], number[]]>([
    [{ after: '1h', for: '5m' }, [60, 64], [59, 65]],
    [{ after: '1h' }, [60, 600], [59]],
    [{ for: '1h' }, [0, 59], [60]],
  ])('while the run is of the age %j', (during, inside, outside) => {
    const strike = createFaultPlan([{ during, do: 'reset' }], Math.random);
    for (const minutes of inside) expect(strike({ kind: 'status', ageMs: minutes * minuteMs })).toBeDefined();
    for (const minutes of outside) expect(strike({ kind: 'status', ageMs: minutes * minuteMs })).toBeUndefined();
    expect(strike({ kind: 'trigger' })).toBeUndefined();
  });

  test('before the next in the list, which counts the request all the same', () => {
    const strike = createFaultPlan(
      [
        { nth: 1, do: 'reset' },
        { nth: 2, do: 'close' },
      ],
      Math.random,
    );
    expect([1, 2, 3].map(() => strike({ kind: 'status' })?.do)).toEqual(['reset', 'close', undefined]);
  });
});

describe('the service', () => {
  test.each<[Fault, number]>([
    [{ do: 'status', status: 502 }, 0],
    [{ do: 'status', status: 502, acts: true }, 1],
    [{ do: 'html' }, 0],
    [{ do: 'reset' }, 0],
    [{ do: 'close', acts: true }, 1],
    [{ do: 'hang' }, 0],
    [{ do: 'hang', acts: true }, 1],
    [{ do: 'loseAnswer' }, 1],
    [{ do: 'wrongJson' }, 1],
    [{ do: 'hangBody' }, 1],
    [{ do: 'truncate' }, 1],
    [{ do: 'drip' }, 1],
    [{ do: 'delay', delay: '1s' }, 1],
    [{ do: 'revokeKey' }, 0],
  ])('struck by %j has started %d runs', (fault, count) => {
    const stage = createStage({ faults: [{ nth: 1, ...fault }] });
    stage.deliver('POST', stage.automationUrl('nightly', 'trigger'), { body: '{}', key: 'k' });
    expect(stage.service.runs()).toHaveLength(count);
  });

  test('keeps the run of a lost answer under its key', () => {
    const stage = createStage({ faults: [{ nth: 1, do: 'loseAnswer' }] });
    const lost = stage.deliver('POST', stage.automationUrl('nightly', 'trigger'), { body: '{}', key: 'k' });
    expect([lost.wire, lost.reply]).toEqual(['reset', undefined]);
    const again = stage.trigger('nightly', { key: 'k' });
    expect(again.json().executionId).toBe(stage.service.runs()[0]?.executionId);
  });

  test('refuses a revoked key from that request on', () => {
    const { trigger, status } = createStage({
      apiKeys: ['key-2'],
      faults: [{ on: 'status', nth: 2, do: 'revokeKey' }],
    });
    const { executionId } = trigger().json();
    expect([1, 2, 3].map(() => status(executionId).status)).toEqual([200, 401, 401]);
    expect(trigger('other', { apiKey: 'key-2' }).status).toBe(201);
  });
});

describe('a planned answer', () => {
  test.each<[Fault, number, string, RegExp]>([
    [{ do: 'status', status: 503 }, 503, 'application/json; charset=utf-8', /^\{"code":"plannedFault"/],
    [{ do: 'status', status: 418, body: { any: [1] } }, 418, 'application/json; charset=utf-8', /^\{"any":\[1\]\}$/],
    [{ do: 'status', status: 502, body: 'bad' }, 502, 'text/plain; charset=utf-8', /^bad$/],
    [{ do: 'status', status: 502, body: '<p>', headers: { 'Content-Type': 'text/html' } }, 502, 'text/html', /^<p>$/],
    [{ do: 'html' }, 200, 'text/html; charset=utf-8', /^<!doctype html>/],
    [{ do: 'html', status: 504 }, 504, 'text/html; charset=utf-8', /^<!doctype html>/],
    [{ do: 'wrongJson' }, 201, 'application/json; charset=utf-8', /^\{"ok":true\}$/],
  ])('of %j', (fault, status, contentType, body) => {
    const reply = createStage({ faults: [fault] }).trigger();
    expect(reply).toMatchObject({ status, headers: { 'content-type': contentType } });
    expect(reply.body).toMatch(body);
  });
});
