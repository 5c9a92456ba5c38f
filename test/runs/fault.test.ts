import { describe, expect, test } from 'vitest';
import {
  type FaultKind,
  isInterruption,
  isOfConnection,
  isRefusal,
  isTooEarly,
  reasonOf,
} from '../../src/runs/fault.ts';
import { fault } from '../helpers/scripted-service.ts';

test.each<[FaultKind, boolean, boolean]>([
  ['untrusted', true, false],
  ['broken_tls', true, false],
  ['proxy_refused', true, false],
  ['unreachable', false, false],
  ['lost', false, false],
  ['interrupted', false, true],
  ['interrupted_in_flight', false, true],
])('%s is of the connection: %s, and an interruption: %s', (kind, ofConnection, interruption) => {
  const { fault: given } = fault(kind);
  expect([isOfConnection(given), isInterruption(given)]).toEqual([ofConnection, interruption]);
});

test.each([
  [{}, 'the connection was reset'],
  [{ httpStatus: 502 }, 'the connection was reset (HTTP 502)'],
  [{ httpStatus: 422, serviceCode: 'notFound' }, 'the connection was reset (HTTP 422 notFound)'],
  [{ serviceCode: 'notFound' }, 'the connection was reset'],
])('the reason of a fault ends with what HTTP said of it: %j', (facts, reason) => {
  expect(reasonOf(fault('lost', { message: 'the connection was reset', ...facts }).fault)).toBe(reason);
});

describe('a not-found', () => {
  const refusal = (kind: FaultKind, httpStatus: number) => fault(kind, { httpStatus }).fault;

  test.each<[FaultKind, boolean]>([
    ['not_found', true],
    ['unauthorized', true],
    ['path_not_found', false],
    ['rejected', false],
  ])('of kind %s: that it is a refusal is %s', (kind, isRefused) => {
    expect(isRefusal(refusal(kind, 422))).toBe(isRefused);
  });

  test('comes too early for 30 s after the trigger, also where the clock was set back', () => {
    const sinceMs = [undefined, -30_000, -29_999, 0, 29_999, 30_000];
    expect(sinceMs.map((ms) => isTooEarly(refusal('not_found', 422), ms))).toEqual([
      false,
      false,
      true,
      true,
      true,
      false,
    ]);
    expect(isTooEarly(refusal('path_not_found', 404), 0)).toBe(true);
    expect(isTooEarly(refusal('unauthorized', 401), 0)).toBe(false);
  });
});
