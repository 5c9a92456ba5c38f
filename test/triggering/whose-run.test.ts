import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { beganAfter, type DatedAnswer, type Moment } from '../../src/triggering/moments.ts';
import { type Owner, whoseRun } from '../../src/triggering/whose-run.ts';

const second = 1000;
const hour = 3_600 * second;
/** The service's clock at our first attempt. */
const service = Date.parse('2026-11-21T09:00:00Z');
/** This machine's wall clock is 7 h slow. */
const wall = service - 7 * hour;

/** A moment so long after our first attempt, by two clocks that work. */
const at = (ms: number): Moment => ({ wallMs: wall + ms, elapsedMs: 50 * second + ms });
const wallAt = (ms: number): Moment => ({ wallMs: wall + ms });

/** What is answered, two minutes after the first attempt, about a run that began so long after that. */
function answerOf(beganAfterMs: number, fields: Partial<DatedAnswer> = {}): DatedAnswer {
  const moment = at(120 * second);
  return {
    beganAtMs: service + beganAfterMs,
    serviceTimeMs: service + 120 * second,
    sent: moment,
    received: moment,
    ...fields,
  };
}

describe('the run that a conflict names', () => {
  const attempts = { first: at(0), lastInDoubt: at(30 * second) };

  test.each<[string, number, Owner]>([
    ['an hour before our first attempt', -hour, 'another'],
    ['61 s before it', -61 * second, 'another'],
    ['just within a minute before it', -60 * second, 'unknown'],
    ['3 s before it', -3 * second, 'unknown'],
    ['within the second that the Date leaves open', -2 * second, 'unknown'],
    ['2 s before it, for certain', -1 * second, 'ours'],
    ['with it', 0, 'ours'],
    ['between the attempts', 20 * second, 'ours'],
    ['a minute after the last attempt in doubt', 90 * second, 'ours'],
    ['later', 90 * second + 1, 'unknown'],
  ])('is, where it began %s: %d ms, %s', (_, beganAfterMs, owner) => {
    expect(whoseRun(attempts, answerOf(beganAfterMs))).toBe(owner);
  });

  test.each<[string, Partial<DatedAnswer>]>([
    ['no time', { beganAtMs: undefined }],
    ['no Date', { serviceTimeMs: undefined }],
  ])('is of unknown owner where the answer has %s', (_, fields) => {
    expect(whoseRun(attempts, answerOf(0, fields))).toBe('unknown');
  });

  test.each<[string, number, Moment]>([
    ['the wall clock was set an hour forward', -1, { ...at(120 * second), wallMs: at(120 * second).wallMs + hour }],
    ['the wall clock was set an hour back', 1, { ...at(120 * second), wallMs: at(120 * second).wallMs - hour }],
    [
      'the machine slept an hour, and one clock stood still',
      1,
      { ...at(120 * second), elapsedMs: 170 * second - hour },
    ],
  ])('is of unknown owner where the clocks disagree: %s', (_, sign, moment) => {
    const clocks = { sent: moment, received: moment };
    for (const beganAfterMs of [0, (sign * hour) / 2]) {
      expect(whoseRun(attempts, answerOf(beganAfterMs, clocks))).toBe('unknown');
    }
  });

  test('is ours by the wall clock alone, and never another’s', () => {
    const ofOtherProcess = { first: wallAt(0), lastInDoubt: wallAt(30 * second) };
    expect(whoseRun(ofOtherProcess, answerOf(20 * second))).toBe('ours');
    expect(whoseRun(ofOtherProcess, answerOf(-hour))).toBe('unknown');
  });
});

/** A question that the service answered, with its clock read at some time on the way. */
interface Question {
  askedMs: number;
  tookMs: number;
  readAt: number;
  beganMs: number;
  lastMs: number;
  /** By so much one of our clocks is wrong by then. */
  stepMs: number;
  /** It is the one that stands still in sleep. */
  stood: boolean;
}

const questions: fc.Arbitrary<Question> = fc.record({
  askedMs: fc.integer({ min: 0, max: hour }),
  tookMs: fc.integer({ min: 0, max: 30 * second }),
  readAt: fc.double({ min: 0, max: 1, noNaN: true }),
  beganMs: fc.integer({ min: -2 * hour, max: 2 * hour }),
  lastMs: fc.integer({ min: 0, max: hour }),
  stepMs: fc.constantFrom(0, -hour, -5 * second, 5 * second, hour),
  stood: fc.boolean(),
});

function caseOf({ askedMs, tookMs, readAt, beganMs, lastMs, stepMs, stood }: Question) {
  // One of the clocks may be wrong, never both.
  const later = (ms: number): Moment => ({
    wallMs: wall + ms + (stood ? 0 : stepMs),
    elapsedMs: 50 * second + ms - (stood ? Math.abs(stepMs) : 0),
  });
  const last = Math.min(lastMs, askedMs);
  const dateMs = Math.floor((service + askedMs + readAt * tookMs) / second) * second;
  const answer: DatedAnswer = {
    beganAtMs: service + beganMs,
    serviceTimeMs: dateMs,
    sent: later(askedMs),
    received: later(askedMs + tookMs),
  };
  return { attempts: { first: at(0), lastInDoubt: at(last) }, answer, last };
}

test('whatever one clock does and however long the answer takes, the truth lies within the span', () => {
  fc.assert(
    fc.property(questions, (question) => {
      const { answer } = caseOf(question);
      const { leastMs, mostMs } = beganAfter(at(0), answer) ?? { leastMs: Number.NaN, mostMs: Number.NaN };
      expect(leastMs <= question.beganMs && question.beganMs <= mostMs).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

test('no run outside its zone is ever called ours, or another’s', () => {
  fc.assert(
    fc.property(questions, (question) => {
      const { attempts, answer, last } = caseOf(question);
      const owner = whoseRun(attempts, answer);
      const { beganMs } = question;
      const canBeOurs = -2 * second <= beganMs && beganMs <= last + 60 * second;
      const isAnothers = beganMs < -60 * second;
      expect(owner).toSatisfy(() => owner === 'unknown' || (owner === 'ours' ? canBeOurs : isAnothers));
    }),
    { numRuns: 2000 },
  );
});
