import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isTooEarly } from '../../src/run/fault.ts';
import { backoffMs } from '../../src/service/retry.ts';
import { parseDuration } from '../../src/system/time-text.ts';
import { rotating } from '../helpers/rotation.ts';
import { fault } from '../helpers/scripted-service.ts';
import { type Given, type Runner, runners } from './runners.ts';

const meant: Record<string, Runner> = {
  ...runners,
  watch: (script, given) => runners.watch(`RUNNING ${script}`, given),
  'result of a watch': (script, given) => runners.watch(`COMPLETED ${script}`, given),
};

const rowsOf = (table: string) =>
  table
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()));

/**
 * What each answer means for each request. A name alone: the command ends at once with that exit code. `~` before it:
 * the request is retried, and that is the exit code once the retries stop; `+`: it is retried once. `in doubt` is a trigger whose earlier answer
 * was lost. The result is that of a watched run which is known to have COMPLETED.
 *
 * An answer is a state in capitals, a status, a status and what its body holds, or the name of a failure without an answer,
 * as `scriptedTransport` explains them; `205-299` is each of these.
 */
const meanings = `
answer                    | trigger          | trigger in doubt | status        | watch         | result of a watch
200-html 200-empty        | ~outcome_unknown | ~outcome_unknown | ~unavailable  | ~unavailable  | ~result_unavailable
200-list 204-empty        | ~outcome_unknown | ~outcome_unknown | ~unavailable  | ~unavailable  | ~result_unavailable
200-other 200-typed       | ~outcome_unknown | ~outcome_unknown | ~unavailable  | ~unavailable  | ~result_unavailable
205-299                   | ~outcome_unknown | ~outcome_unknown | ~unavailable  | ~unavailable  | ~result_unavailable
201-no-id 200-envelope    | ~outcome_unknown | ~outcome_unknown | ~unavailable  | ~unavailable  | ~result_unavailable
201-no-status             | ok               | ok               | ~unavailable  | ~unavailable  | ~result_unavailable
201-run 202-run 299-run   | ok               | ok               | ~unavailable  | ~unavailable  | ~result_unavailable
200-another               | ok               | ok               | ~unavailable  | ~unavailable  | ~result_unavailable
200-huge                  | outcome_unknown  | outcome_unknown  | unavailable   | ~unavailable  | result_unavailable
300-399                   | rejected         | outcome_unknown  | rejected      | ~unavailable  | ~result_unavailable
300-run 301-run 303-run   | outcome_unknown  | outcome_unknown  | rejected      | ~unavailable  | ~result_unavailable
307-run 308-run 399-run   | outcome_unknown  | outcome_unknown  | rejected      | ~unavailable  | ~result_unavailable
400 400-run               | rejected         | outcome_unknown  | rejected      | ~unavailable  | ~result_unavailable
401 403                   | unauthorized     | outcome_unknown  | unauthorized  | ~unauthorized | ~result_unavailable
402                       | no_credits       | outcome_unknown  | no_credits    | ~unavailable  | ~result_unavailable
404 404-html 404-missing  | not_found        | outcome_unknown  | +not_found    | ~unavailable  | ~result_unavailable
410 410-html 410-invalidId | rejected         | outcome_unknown  | +not_found    | ~unavailable  | ~result_unavailable
410-missing               | not_found        | outcome_unknown  | +not_found    | ~unavailable  | ~result_unavailable
422-missing 422-detail    | not_found        | outcome_unknown  | not_found     | ~not_found    | ~result_unavailable
422-NOT_FOUND             | not_found        | outcome_unknown  | not_found     | ~not_found    | ~result_unavailable
422-execution_not_found   | not_found        | outcome_unknown  | not_found     | ~not_found    | ~result_unavailable
422-other 422-list        | rejected         | outcome_unknown  | not_found     | ~not_found    | ~result_unavailable
422-UnprocessableContent  | rejected         | outcome_unknown  | not_found     | ~not_found    | ~result_unavailable
422-unprocessable-entity  | rejected         | outcome_unknown  | not_found     | ~not_found    | ~result_unavailable
422 422-html 422-text     | rejected         | outcome_unknown  | ~unavailable  | ~unavailable  | ~result_unavailable
422-invalidId             | rejected         | outcome_unknown  | rejected      | ~unavailable  | ~result_unavailable
422-notFoundation         | rejected         | outcome_unknown  | rejected      | ~unavailable  | ~result_unavailable
422-NotUnprocessableEntity | rejected        | outcome_unknown  | rejected      | ~unavailable  | ~result_unavailable
405-406                   | rejected         | outcome_unknown  | rejected      | ~unavailable  | ~result_unavailable
407                       | unavailable      | outcome_unknown  | unavailable   | ~unavailable  | ~result_unavailable
408 425                   | ~outcome_unknown | ~outcome_unknown | ~unavailable  | ~unavailable  | ~result_unavailable
409                       | ~outcome_unknown | ~outcome_unknown | rejected      | ~unavailable  | ~result_unavailable
411-421 423-424 426-428   | rejected         | outcome_unknown  | rejected      | ~unavailable  | ~result_unavailable
422-active 409-active     | already_active   | outcome_unknown  |               |               |
400-active                | already_active   | outcome_unknown  |               |               |
400-missing               | not_found        | outcome_unknown  | rejected      | ~unavailable  | ~result_unavailable
422-active-id             | already_active   |                  |               |               |
422-active-text           | already_active   |                  |               |               |
429 429-active            | ~rate_limited    | ~outcome_unknown | ~rate_limited | ~rate_limited | ~result_unavailable
430-499                   | rejected         | outcome_unknown  | rejected      | ~unavailable  | ~result_unavailable
500 502-504 502-html      | ~outcome_unknown | ~outcome_unknown | ~unavailable  | ~unavailable  | ~result_unavailable
503-active                | ~outcome_unknown | ~outcome_unknown | ~unavailable  | ~unavailable  | ~result_unavailable
520-527                   | ~outcome_unknown | ~outcome_unknown | ~unavailable  | ~unavailable  | ~result_unavailable
501-active 505-active     | outcome_unknown  | outcome_unknown  | rejected      | ~unavailable  | ~result_unavailable
501 505-519 528-599       | outcome_unknown  | outcome_unknown  | rejected      | ~unavailable  | ~result_unavailable
unresolvable refused      | ~unavailable     | ~outcome_unknown | ~unavailable  | ~unavailable  | ~result_unavailable
unreachable proxy-502     | ~unavailable     | ~outcome_unknown | ~unavailable  | ~unavailable  | ~result_unavailable
connect-timeout           | ~unavailable     | ~outcome_unknown | ~unavailable  | ~unavailable  | ~result_unavailable
reset-unsent late-unsent  | ~unavailable     | ~outcome_unknown | ~unavailable  | ~unavailable  | ~result_unavailable
reset closed unheard      | ~outcome_unknown | ~outcome_unknown | ~unavailable  | ~unavailable  | ~result_unavailable
cut silence               | ~outcome_unknown | ~outcome_unknown | ~unavailable  | ~unavailable  | ~result_unavailable
expired self-signed       | unavailable      | outcome_unknown  | unavailable   | ~unavailable  | ~result_unavailable
wrong-host proxy-407      | unavailable      | outcome_unknown  | unavailable   | ~unavailable  | ~result_unavailable
broken-tls                | outcome_unknown  | outcome_unknown  | unavailable   | ~unavailable  | ~result_unavailable
RUNNING                   | ok               | ok               | ok            |               | ~result_unavailable
COMPLETED                 | ok               | ok               | ok            | ok            | ok
PAUSED                    | ok               | ok               | ok            |               | ~result_unavailable`;

/** The words of a cell, with every status of a range. */
const wordsOf = (cell: string) =>
  cell.split(' ').flatMap((word) => {
    const [, from, to] = /^(\d{3})-(\d{3})$/.exec(word) ?? [];
    return from ? Array.from({ length: Number(to) - Number(from) + 1 }, (_, n) => String(Number(from) + n)) : [word];
  });

/** Those of a cell that are tried. Where `CI` is not set, these are of a range its ends and a third, another each day. */
const triedOf = (cell: string) =>
  cell.split(' ').flatMap((word) => {
    const all = wordsOf(word);
    const turn = new Set(rotating(all));
    return all.filter((each, at) => at === 0 || at === all.length - 1 || turn.has(each));
  });

const [header = [], ...rows] = rowsOf(meanings);
const cells = rows.flatMap(([answer = '', ...expected]) =>
  expected.map((meaning, column) => ({ answer, request: header[column + 1] ?? '', meaning })),
);

describe('what an answer means', () => {
  test.each(cells.filter(({ meaning }) => meaning !== ''))('$answer to $request: $meaning', async (cell) => {
    const runner = meant[cell.request] as Runner;
    const good = 'COMPLETED';
    // A refusal ends a watch after half a minute.
    const giveUpAfterMs = cell.request === 'watch' ? 30_000 : 3_000;
    for (const word of triedOf(cell.answer)) {
      const { end, gapsMs } = await runner(word, { giveUpAfterMs });
      expect({ word, end }).toEqual({ word, end: cell.meaning.replace(/[~+]/, '') });
      const first = cell.request.includes('watch') ? 1 : 0;
      if (cell.meaning.startsWith('~')) {
        expect(gapsMs.length).toBeGreaterThan(first + 2);
        expect(await runner(`${word} ${good}`)).toMatchObject({ end: 'ok' });
      } else if (cell.meaning.startsWith('+')) {
        expect(gapsMs).toHaveLength(first + 1);
        expect(await runner(`${word} ${good}`)).toMatchObject({ end: 'ok' });
      } else if (end !== 'ok') {
        expect(gapsMs).toHaveLength(first);
      }
    }
  });

  test('is decided for every status that is no success', () => {
    const known = new Set(rows.flatMap(([answer = '']) => wordsOf(answer)));
    const all = Array.from({ length: 300 }, (_, n) => String(300 + n));
    expect(all.filter((status) => !known.has(status))).toEqual([]);
  });
});

/**
 * When requests are sent: the seconds between one and the next. The watches poll every 10 s. `…` is any number more.
 * Of the answers, the last one stays; `429;7` asks for 7 s; `asleep8h`, `stopped8h` and `stalled8h` are no answers, but what
 * the machine or the process does meanwhile. Chance is what every draw comes out as: at 1 a backoff takes its ceiling, at 0 its least.
 */
const timings = `
request | given                    | answers                                       | seconds between                   | end
trigger |                          | COMPLETED                                     |                                   | ok
trigger | chance 1                 | 502 502 502 502 COMPLETED                     | 0.5 1 2 4                         | ok
trigger | chance 0.5               | reset 503 refused COMPLETED                   | 0.25 0.5 1                        | ok
trigger | chance 0                 | 429 429 429 COMPLETED                         | 0.05 0.05 0.05                    | ok
trigger | chance 1                 | refused                                       | 0.5 1 2 4 8 14.5                  | unavailable
trigger | chance 1                 | reset                                         | 0.5 1 2 4 8 14.5                  | outcome_unknown
trigger | chance 0                 | 429;7 429;007 COMPLETED                       | 7 7                               | ok
trigger | chance 1                 | 429;0 COMPLETED                               | 0.5                               | ok
trigger | chance 0                 | 503;date20 COMPLETED                          | 20                                | ok
trigger |                          | 429;30 429                                    | 30                                | rate_limited
trigger |                          | 429;31                                        |                                   | rate_limited
trigger |                          | 503;31                                        |                                   | outcome_unknown
trigger |                          | 503;date31                                    |                                   | outcome_unknown
trigger | chance 1                 | 429;soon 429;-5 429;1.5 429;5s COMPLETED      | 0.5 1 2 4                         | ok
trigger | giveUpAfter 1m           | 429;31 COMPLETED                              | 31                                | ok
trigger |                          | 429;20 429;11                                 | 20                                | rate_limited
trigger |                          | 402                                           |                                   | no_credits
trigger | timeout 10s, chance 1    | refused                                       | 0.5 1 2 4 1.5                     | unavailable
trigger | timeout 10s, chance 1    | 429                                           | 0.5 1 2 4 1.5                     | rate_limited
trigger | timeout 10s, chance 1    | reset                                         | 0.5 1 2 4 1.5                     | outcome_unknown
trigger | timeout 10s              | 429;10                                        |                                   | rate_limited
trigger | timeout 500ms            | refused                                       |                                   | unavailable
trigger | timeout 1s, giveUpAfter 1m | COMPLETED                                   |                                   | ok
trigger | chance 1                 | stalled8h COMPLETED                           | 28800.5                           | ok
status  | chance 1                 | 502 502 COMPLETED                             | 0.5 1                             | ok
status  | chance 1                 | 504                                           | 0.5 1 2 4 8 14.5                  | unavailable
status  | giveUpAfter 2s, chance 1 | 504                                           | 0.5 1 0.5                         | unavailable
status  |                          | 429;31                                        |                                   | rate_limited
result  | chance 0                 | 429;7 COMPLETED                               | 7                                 | ok
watch   |                          | RUNNING RUNNING COMPLETED COMPLETED           | 10 10 0                           | ok
watch   |                          | RUNNING PAUSED PAUSED FAILED FAILED           | 10 10 10 0                        | run_failed
watch   | chance 1                 | RUNNING 502 502 502 RUNNING 502 FAILED FAILED | 10 0.5 1 2 10 0.5 0               | run_failed
watch   | chance 1                 | RUNNING 502                                   | 10 0.5 1 2 4 8 15 15 …            | unavailable
watch   | chance 1                 | reset                                         | 0.5 1 2 4 8 15 15 …               | unavailable
watch   | giveUpAfter 5s, chance 1 | RUNNING 502                                   | 10 0.5 1 2 1.5                    | unavailable
watch   | chance 1                 | 429 RUNNING RUNNING COMPLETED COMPLETED       | 0.5 10 10 0                       | ok
watch   | chance 0                 | 429;100 COMPLETED COMPLETED                   | 100 0                             | ok
watch   | timeout 10m              | RUNNING 429;601                               | 10                                | timeout
watch   | timeout 10m              | RUNNING 503;601                               | 10                                | timeout
watch   | timeout 25m              | RUNNING 429;601 RUNNING 429;601 COMPLETED COMPLETED | 10 600 10 600 0             | ok
watch   |                          | RUNNING 429;601 COMPLETED COMPLETED           | 10 600 0                          | ok
watch   |                          | RUNNING 503;3600 503;3600 COMPLETED COMPLETED | 10 600 600 0                      | ok
watch   |                          | RUNNING;3600 COMPLETED COMPLETED              | 600 0                             | ok
watch   |                          | RUNNING 404;100 COMPLETED COMPLETED           | 10 100 0                          | ok
watch   |                          | RUNNING;40 RUNNING COMPLETED;40 COMPLETED     | 40 10 0                           | ok
watch   |                          | RUNNING;3 COMPLETED COMPLETED                 | 10 0                              | ok
watch   | timeout 15m              | RUNNING;601 RUNNING;601 COMPLETED COMPLETED   | 600                               | timeout
watch   |                          | RUNNING;40 asleep8h COMPLETED COMPLETED       | 40 0                              | ok
watch   | chance 1                 | RUNNING 503;300 503;300 503;300 503           | 10 300 300 300 4 8 15 15 …        | unavailable
watch   | timeout 25s              | RUNNING                                       | 10 10 5                           | timeout
watch   | timeout 25s              | RUNNING RUNNING RUNNING COMPLETED COMPLETED   | 10 10 5 0                         | ok
watch   | timeout 25s              | RUNNING RUNNING RUNNING 401                   | 10 10 5                           | timeout
watch   | timeout 12s, chance 1    | RUNNING 502                                   | 10 0.5 1 0.5                      | timeout
watch   | timeout 25s              | RUNNING 429;14 COMPLETED COMPLETED            | 10 14 0                           | ok
watch   | timeout 25s              | RUNNING 429;16 COMPLETED                      | 10                                | timeout
watch   | timeout 1m, chance 1     | RUNNING COMPLETED 502 502 COMPLETED           | 10 0 0.5 1                        | ok
watch   | chance 1                 | COMPLETED RUNNING RUNNING COMPLETED           | 0 0.5 1                           | ok
watch   | chance 1                 | FAILED 404                                    | 0 0.5 1 2 4 8 15 15 …             | run_failed
watch   | chance 1                 | RUNNING 404-html 404 410 COMPLETED COMPLETED  | 10 0.5 1 2 0                      | ok
watch   | giveUpAfter 2s, chance 1 | RUNNING 404-html                              | 10 0.5 1 0.5                      | unavailable
watch   | chance 1                 | COMPLETED 404 404 COMPLETED                   | 0 0.5 1                           | ok
watch   | timeout 10s, chance 1    | RUNNING COMPLETED 502                         | 10 0 0.5 1 2                      | result_unavailable
watch   | timeout 10s, chance 1    | RUNNING FAILED 502                            | 10 0 0.5 1 2                      | run_failed
watch   | giveUpAfter 2s, chance 1 | COMPLETED RUNNING                             | 0 0.5 1 0.5                       | result_unavailable
watch   | giveUpAfter 2s, chance 1 | FAILED RUNNING                                | 0 0.5 1 0.5                       | run_failed
watch   |                          | COMPLETED FAILED                              | 0                                 | run_failed
watch   |                          | CANCELLED TIMED_OUT                           | 0                                 | run_timed_out
watch   |                          | FAILED COMPLETED                              | 0                                 | run_failed
watch   | own, chance 1            | 404 404 404 RUNNING COMPLETED COMPLETED       | 0.5 1 2 10 0                      | ok
watch   | own, chance 1            | 422-missing                                   | 0.5 1 2 4 8 15 15 15              | not_found
watch   | own, chance 1            | 404                                           | 0.5 1 2 4 8 15 15 …               | unavailable
watch   | journal, chance 1        | 422-missing                                   | 0.5 1 2 4 8 15                    | not_found
watch   | journal, chance 1        | 404                                           | 0.5 1 2 4 8 15 15                 | not_found
watch   | journal, chance 1        | 422-missing 404 410 RUNNING COMPLETED COMPLETED       | 0.5 1 2 10 0                      | ok
watch   | own, chance 1            | COMPLETED 404 404 COMPLETED                   | 0 0.5 1                           | ok
watch   | own, chance 1            | COMPLETED 422-missing                         | 0 0.5 1 2 4 8 15 15 15            | result_unavailable
watch   | own, chance 1            | RUNNING RUNNING RUNNING RUNNING 422-missing   | 10 10 10 10 0.5 1 2 4 8 14.5      | not_found
watch   | chance 1                 | 404                                           | 0.5                               | not_found
watch   | chance 1                 | 404 502 410                                   | 0.5 1                             | not_found
watch   | chance 1                 | 404 RUNNING 410 404 COMPLETED COMPLETED       | 0.5 10 0.5 1 0                    | ok
watch   |                          | 422-missing                                   |                                   | not_found
watch   | chance 1                 | RUNNING 401                                   | 10 0.5 1 2 4 8 14.5               | unauthorized
watch   | giveUpAfter 5s, chance 1 | RUNNING 401                                   | 10 0.5 1 2 1.5                    | unauthorized
watch   | chance 1                 | RUNNING 401 502 403 422-missing 502 502 401           | 10 0.5 1 2 4 8 15                 | unauthorized
watch   | chance 1                 | RUNNING 401 401 401 401 401 401 RUNNING 401 COMPLETED COMPLETED | 10 0.5 1 2 4 8 14.5 10 0.5 0 | ok
watch   | chance 0                 | RUNNING 401;40 401                            | 10 40                             | unauthorized
watch   |                          | 401                                           |                                   | unauthorized
watch   |                          | expired                                       |                                   | unavailable
watch   |                          | proxy-407                                     |                                   | unavailable
watch   |                          | broken-tls                                    |                                   | unavailable
watch   | chance 1                 | 302                                           | 0.5 1 2 4 8 15 15 …               | unavailable
watch   | chance 1                 | 402 400 405 RUNNING COMPLETED COMPLETED       | 0.5 1 2 10 0                      | ok
watch   | chance 1                 | 200-huge                                      | 0.5 1 2 4 8 15 15 …               | unavailable
watch   | interval 5m              | RUNNING asleep8h COMPLETED COMPLETED          | 5 0                               | ok
watch   | interval 5m              | RUNNING stopped8h COMPLETED COMPLETED         | 28800 0                           | ok
watch   | interval 5m, chance 1    | RUNNING asleep8h refused refused COMPLETED    | 5 0.5 1 0                         | ok
watch   | interval 5m, chance 1    | RUNNING stopped8h refused refused COMPLETED   | 28800 0.5 1 0                     | ok
watch   |                          | RUNNING 502 stopped8h 502 COMPLETED           | 10 28800 0.5 0                    | ok
watch   | timeout 1h, interval 5m  | RUNNING stopped8h COMPLETED COMPLETED         | 28800 0                           | ok
watch   | timeout 1h, interval 5m  | RUNNING stopped8h RUNNING                     | 28800 30                          | timeout
watch   | timeout 1h, interval 5m  | RUNNING asleep8h RUNNING                      | 5 30                              | timeout
watch   | timeout 1h, chance 1     | RUNNING stopped8h 502                         | 28800 0.5 1 2 4 8 14.5            | timeout
watch   | giveUpAfter 1s, chance 1 | RUNNING 502 stopped8h 502                     | 10 28800 1 2 4 8 15 …             | unavailable
watch   | chance 1                 | RUNNING 503;300 asleep1m RUNNING COMPLETED    | 10 300 10 0                       | ok
watch   | chance 1                 | RUNNING 503;300 asleep8h RUNNING COMPLETED    | 10 300 10 0                       | ok
watch   |                          | RUNNING 502 asleep8h 502 COMPLETED            | 10 0.25 0.5 0                     | ok
watch   | chance 1                 | RUNNING stalled8h COMPLETED COMPLETED         | 10 28800.5 0                      | ok
watch   | giveUpAfter 5s, chance 1 | RUNNING stalled8h 502                         | 10 28800.5 1 2 4 8 14.5           | unavailable
watch   | timeout 1h, interval 20s | RUNNING stalled8h RUNNING                     | 20 28800.25 20 9.75               | timeout
watch   | chance 1                 | RUNNING 401 401 401 401 stopped1m 401         | 10 0.5 1 2 60 8 15 15             | unauthorized
watch   | chance 1                 | COMPLETED stalled8h COMPLETED                 | 0 28800.5                         | ok
status  | chance 1                 | stalled8h COMPLETED                           | 28800.5                           | ok
trigger |                          | 429;30 asleep20s COMPLETED                    | 30                                | ok
status  | chance 1                 | 429;20 stopped8h 502 COMPLETED                | 28800 1                           | ok`;

const [, ...vectors] = rowsOf(timings).map(([request = '', given = '', answers = '', seconds = '', end = '']) => {
  return { request, given, answers, seconds, end };
});

function readGiven(text: string): Given {
  const given: Record<string, number | boolean> = {};
  for (const part of text.split(',').filter((piece) => piece !== '')) {
    const [name = '', value] = part.trim().split(' ');
    if (value === undefined) given[name] = true;
    else if (name === 'chance') given[name] = Number(value);
    else given[`${name}Ms`] = parseDuration(value) ?? Number.NaN;
  }
  return given;
}

describe('when it is asked again', () => {
  test.each(vectors)('$request $given: $answers', async ({ request, given, answers, seconds, end }) => {
    const outcome = await runners[request as keyof typeof runners](answers, readGiven(given));
    const told = outcome.gapsMs.map((ms) => String(Math.round(ms) / 1000));
    const expected = seconds.split(' ').filter((text) => text !== '');
    if (expected.at(-1) === '…') {
      expected.pop();
      told.length = expected.length;
    }
    expect(told).toEqual(expected);
    expect(outcome.end).toBe(end);
  });
});

describe('retries', () => {
  const chances = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  const waits = fc.option(fc.integer({ min: 0, max: 3_600_000 }), { nil: undefined });

  test('draws each backoff from all of its range, and never less than the service asked for', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5000 }), chances, waits, (failures, chance, retryAfterMs) => {
        const ceilingMs = Math.min(15_000, 500 * 2 ** (failures - 1));
        const delayMs = backoffMs(failures, { retryAfterMs }, Number.POSITIVE_INFINITY, () => chance);
        expect(delayMs).toBe(Math.max(50, chance * ceilingMs, retryAfterMs ?? 0));
      }),
    );
  });

  test('ends where nothing is left, or the service wants more; else the wait ends within it', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1000, max: 600_000 }), chances, waits, (leftMs, chance, retryAfterMs) => {
        const waitMs = backoffMs(9, { retryAfterMs }, leftMs, () => chance);
        if (leftMs <= 0 || (retryAfterMs ?? 0) > leftMs) expect(waitMs).toBeUndefined();
        else {
          expect(waitMs).toBeLessThanOrEqual(leftMs);
          expect(waitMs).toBeGreaterThanOrEqual(retryAfterMs ?? 0);
        }
      }),
    );
  });

  test('is counted in time without a good answer, however many attempts fail in it', async () => {
    for (const chance of [0, 0.1, 0.5, 1]) {
      const { gapsMs } = await runners.watch('RUNNING 502', { chance, giveUpAfterMs: 10_000 });
      expect(gapsMs.slice(1).reduce((sum, ms) => sum + ms, 0)).toBeCloseTo(10_000, 0);
    }
  });
});

test.each([
  [undefined, false],
  [-30_000, false],
  [-29_999, true],
  [0, true],
  [29_999, true],
  [30_000, false],
])('%s ms after its trigger, a run that is not found may be too new: %s', (sinceTriggerMs, expected) => {
  // A negative time is that of a clock that was set back.
  const isNew = (kind: Parameters<typeof fault>[0]) => isTooEarly(fault(kind).fault, sinceTriggerMs);
  expect([isNew('not_found'), isNew('path_not_found'), isNew('unauthorized')]).toEqual([expected, expected, false]);
});
