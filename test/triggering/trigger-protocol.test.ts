import { describe, expect, test } from 'vitest';
import type { FaultKind } from '../../src/runs/fault.ts';
import { eventOf, isEnd, protocol, step, type TriggerEvent } from '../../src/triggering/trigger-protocol.ts';
import { fault } from '../helpers/scripted-service.ts';

/** What follows from an event while nothing is in doubt, and once something is. */
const steps = `
accepted              | started  | started
conflict              | refused  | unknown
refused               | refused  | unknown
reused                | refused  | refused
throttled             | ready    | in_doubt
not_sent              | ready    | in_doubt
unsendable            | refused  | unknown
expired               | unknown  | unknown
lost                  | in_doubt | in_doubt
lost_for_good         | unknown  | unknown
stopped               | refused  | unknown
interrupted           | unknown  | unknown`;

const rows = steps.trim().split('\n');
const cells = rows.map((row) => row.split('|').map((cell) => cell.trim()));

describe('the trigger protocol', () => {
  test('knows every event once', () => {
    expect(cells.map(([event]) => event)).toEqual(Object.keys(protocol));
  });

  test.each(cells)('%s leads to %s, and in doubt to %s', (event, ofReady, ofInDoubt) => {
    expect(step('ready', event as TriggerEvent)).toBe(ofReady);
    expect(step('in_doubt', event as TriggerEvent)).toBe(ofInDoubt);
  });

  test.each(['started', 'refused', 'unknown'] as const)('never leaves %s', (end) => {
    expect(isEnd(end)).toBe(true);
    expect(step(end, 'accepted')).toBe(end);
    expect(step(end, 'lost')).toBe(end);
  });

  const events: [FaultKind, TriggerEvent][] = [
    ['unreachable', 'not_sent'],
    ['untrusted', 'unsendable'],
    ['broken_tls', 'lost_for_good'],
    ['proxy_refused', 'unsendable'],
    ['unsendable', 'unsendable'],
    ['lost', 'lost'],
    ['unavailable', 'lost'],
    ['throttled', 'throttled'],
    ['unreadable', 'lost'],
    ['too_large', 'lost_for_good'],
    ['unauthorized', 'refused'],
    ['no_credits', 'refused'],
    ['already_active', 'conflict'],
    ['not_found', 'refused'],
    ['redirected_to_run', 'lost_for_good'],
    ['redirected', 'refused'],
    ['in_progress', 'lost'],
    ['rejected', 'refused'],
    ['reused_key', 'reused'],
    ['stale_key', 'expired'],
    ['interrupted', 'stopped'],
    ['interrupted_in_flight', 'interrupted'],
  ];

  test.each(events)('takes %s for %s', (kind, event) => expect(eventOf(fault(kind).fault)).toBe(event));

  test('takes a 5xx for a lost answer, whatever else it says', () => {
    expect(eventOf(fault('rejected', { httpStatus: 501 }).fault)).toBe('lost_for_good');
  });
});
