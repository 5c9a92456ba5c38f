import { describe, expect, test } from 'vitest';
import {
  deliveryOf,
  type FaultKind,
  isInterruption,
  isOfConnection,
  isRefusal,
  isRetryable,
  isTooEarly,
  reasonOf,
} from '../../src/runs/fault.ts';
import { fault } from '../helpers/scripted-service.ts';

describe('what follows from a fault', () => {
  test.each<[FaultKind, number | undefined, ReturnType<typeof deliveryOf>, boolean]>([
    ['unreachable', undefined, 'not_sent', true],
    ['untrusted', undefined, 'not_sent', false],
    ['broken_tls', undefined, 'unknown', false],
    ['proxy_refused', 407, 'not_sent', false],
    ['unsendable', undefined, 'not_sent', false],
    ['lost', undefined, 'unknown', true],
    ['unavailable', 503, 'unknown', true],
    ['throttled', 429, 'refused', true],
    ['unreadable', 201, 'unknown', true],
    ['too_large', 201, 'unknown', false],
    ['unauthorized', 401, 'refused', false],
    ['already_active', 422, 'refused', false],
    ['in_progress', 409, 'unknown', true],
    ['redirected', 302, 'refused', false],
    ['redirected', 303, 'refused', false],
    ['redirected_to_run', 302, 'unknown', false],
    ['path_not_found', 404, 'refused', false],
    ['rejected', 400, 'refused', false],
    ['rejected', 499, 'refused', false],
    ['rejected', 500, 'unknown', false],
    ['rejected', 501, 'unknown', false],
    ['interrupted', undefined, 'not_sent', false],
    ['interrupted_in_flight', undefined, 'unknown', false],
  ])(
    '%s with HTTP status %s: its delivery is %s, and that a retry may help is %s',
    (kind, httpStatus, delivery, retryable) => {
      const { fault: given } = fault(kind, { httpStatus });
      expect([deliveryOf(given), isRetryable(given)]).toEqual([delivery, retryable]);
    },
  );
});

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
