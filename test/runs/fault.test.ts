import { describe, expect, test } from 'vitest';
import { deliveryOf, type FaultKind, isRetryable, isToleratedWhileWatching } from '../../src/runs/fault.ts';
import { fault } from '../helpers/scripted-service.ts';

const nowMs = 1_000_000;

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

describe('a watch', () => {
  const isTolerated = (kind: FaultKind, isSeen: boolean, httpStatus?: number, triggeredAtMs?: number) =>
    isToleratedWhileWatching(fault(kind, { httpStatus }).fault, { isSeen, nowMs, triggeredAtMs });

  test.each<FaultKind>(['untrusted', 'broken_tls', 'proxy_refused', 'redirected', 'too_large', 'path_not_found'])(
    'tolerates %s once the run was seen, not before',
    (kind) => {
      expect([false, true].map((isSeen) => isTolerated(kind, isSeen))).toEqual([false, true]);
    },
  );

  test.each<FaultKind>(['unauthorized', 'no_credits', 'rejected', 'not_found'])('ends at %s', (kind) => {
    expect(isTolerated(kind, true)).toBe(false);
  });

  test('tolerates every 5xx', () => {
    expect(isTolerated('rejected', false, 522)).toBe(true);
  });

  test('tolerates that the service does not find a run for 30 s after its trigger', () => {
    const triggered = [nowMs - 29_999, nowMs - 30_000];
    expect(triggered.map((atMs) => isTolerated('not_found', false, 422, atMs))).toEqual([true, false]);
    expect(triggered.map((atMs) => isTolerated('path_not_found', false, 404, atMs))).toEqual([true, false]);
  });
});
