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
  watch: (script, given) => runners.watch(`RUNNING, ${script}`, given),
  'result of a watch': (script, given) => runners.watch(`COMPLETED, ${script}`, given),
};

const rowsOf = (table: string) =>
  table
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()));

/**
 * What each answer means for each request. A name alone: the command ends at once with that exit code. `~` before it:
 * the request is retried, and that is the exit code once the retries stop; `+`: it is retried once. `in doubt` is a trigger
 * whose earlier answer was lost. The result is that of a watched run which is known to have COMPLETED.
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
401-text 403-text         | unauthorized     | outcome_unknown  | unauthorized  | ~unauthorized | ~result_unavailable
401-html 403-html         | ~outcome_unknown | ~outcome_unknown | ~unavailable  | ~unavailable  | ~result_unavailable
402 402-html              | no_credits       | outcome_unknown  | no_credits    | ~unavailable  | ~result_unavailable
404 404-html 404-notFound  | not_found        | outcome_unknown  | +not_found    | ~unavailable  | ~result_unavailable
410 410-html 410-invalidId | rejected         | outcome_unknown  | +not_found    | ~unavailable  | ~result_unavailable
410-notFound               | not_found        | outcome_unknown  | +not_found    | ~unavailable  | ~result_unavailable
422-notFound 422-detail    | not_found        | outcome_unknown  | not_found     | ~not_found    | ~result_unavailable
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
400-notFound               | not_found        | outcome_unknown  | rejected      | ~unavailable  | ~result_unavailable
422-active-id             | already_active   |                  |               |               |
422-active-text           | already_active   |                  |               |               |
429 429-active            | ~rate_limited    | ~outcome_unknown | ~rate_limited | ~rate_limited | ~result_unavailable
430-499                   | rejected         | outcome_unknown  | rejected      | ~unavailable  | ~result_unavailable
500 502-504 502-html      | ~outcome_unknown | ~outcome_unknown | ~unavailable  | ~unavailable  | ~result_unavailable
503-active                | ~outcome_unknown | ~outcome_unknown | ~unavailable  | ~unavailable  | ~result_unavailable
520-527                   | ~outcome_unknown | ~outcome_unknown | ~unavailable  | ~unavailable  | ~result_unavailable
501-active 505-active     | outcome_unknown  | outcome_unknown  | rejected      | ~unavailable  | ~result_unavailable
501-html 511-html         | outcome_unknown  | outcome_unknown  | ~unavailable  | ~unavailable  | ~result_unavailable
501 505-519 528-599       | outcome_unknown  | outcome_unknown  | rejected      | ~unavailable  | ~result_unavailable
unresolvable refused      | ~unavailable     | ~outcome_unknown | ~unavailable  | ~unavailable  | ~result_unavailable
unreachable proxy-502     | ~unavailable     | ~outcome_unknown | ~unavailable  | ~unavailable  | ~result_unavailable
connect-timeout           | ~unavailable     | ~outcome_unknown | ~unavailable  | ~unavailable  | ~result_unavailable
reset-unsent late-unsent  | ~unavailable     | ~outcome_unknown | ~unavailable  | ~unavailable  | ~result_unavailable
reset closed unheard      | ~outcome_unknown | ~outcome_unknown | ~unavailable  | ~unavailable  | ~result_unavailable
cut silence               | ~outcome_unknown | ~outcome_unknown | ~unavailable  | ~unavailable  | ~result_unavailable
expired self-signed       | unavailable      | outcome_unknown  | unavailable   | ~unavailable  | ~result_unavailable
wrong-host proxy-407      | unavailable      | outcome_unknown  | unavailable   | ~unavailable  | ~result_unavailable
client-failed             | unavailable      | outcome_unknown  | unavailable   | ~unavailable  | ~result_unavailable
broken-client             | outcome_unknown  | outcome_unknown  | unavailable   | ~unavailable  | ~result_unavailable
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

describe('the meaning of a response', () => {
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
        expect(await runner(`${word}, ${good}`)).toMatchObject({ end: 'ok' });
      } else if (cell.meaning.startsWith('+')) {
        expect(gapsMs).toHaveLength(first + 1);
        expect(await runner(`${word}, ${good}`)).toMatchObject({ end: 'ok' });
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
 * When requests are sent: the seconds between one and the next. A watch polls every 10 s, and after a final status it asks for
 * the result. `…` is any number more. The last response is repeated for ever. `asleep`, `stopped` and `stalled` are no
 * responses, but what the machine or the process does meanwhile. A backoff is random: half of the longest, if none is given.
 */
const timings = `
request | given            | responses                             | seconds between        | end
trigger |                  | COMPLETED                             |                        | ok
trigger | longest backoff  | 502, 502, 502, 502, COMPLETED         | 0.5 1 2 4              | ok
trigger |                  | reset, 503, refused, COMPLETED        | 0.25 0.5 1             | ok
trigger | shortest backoff | 429, 429, 429, COMPLETED              | 0.05 0.05 0.05         | ok
trigger | longest backoff  | refused                               | 0.5 1 2 4 8 14.5       | unavailable
trigger | longest backoff  | reset                                 | 0.5 1 2 4 8 14.5       | outcome_unknown
trigger | shortest backoff | 429 retry-after 7, 429 retry-after 007, COMPLETED | 7 7        | ok
trigger | longest backoff  | 429 retry-after 0, COMPLETED          | 0.5                    | ok
trigger | shortest backoff | 503 retry-after date+20, COMPLETED    | 20                     | ok
trigger |                  | 429 retry-after 30, 429               | 30                     | rate_limited
trigger |                  | 429 retry-after 31                    |                        | rate_limited
trigger |                  | 503 retry-after 31                    |                        | outcome_unknown
trigger |                  | 503 retry-after date+31               |                        | outcome_unknown
trigger | longest backoff  | 429 retry-after soon, 429 retry-after -5, 429 retry-after 1.5, 429 retry-after 5s, COMPLETED | 0.5 1 2 4 | ok
trigger | --give-up-after 1m | 429 retry-after 31, COMPLETED       | 31                     | ok
trigger |                  | 429 retry-after 20, 429 retry-after 11 | 20                    | rate_limited
trigger |                  | 402                                   |                        | no_credits
trigger | --timeout 10s, longest backoff | refused                 | 0.5 1 2 4 1.5          | unavailable
trigger | --timeout 10s, longest backoff | 429                     | 0.5 1 2 4 1.5          | rate_limited
trigger | --timeout 10s, longest backoff | reset                   | 0.5 1 2 4 1.5          | outcome_unknown
trigger | --timeout 10s    | 429 retry-after 10                    |                        | rate_limited
trigger | --timeout 500ms  | refused                               |                        | unavailable
trigger | --timeout 1s, --give-up-after 1m | COMPLETED             |                        | ok
trigger | longest backoff  | stalled 8h, COMPLETED                 | 28800.5                | ok
status  | longest backoff  | 502, 502, COMPLETED                   | 0.5 1                  | ok
status  | longest backoff  | 504                                   | 0.5 1 2 4 8 14.5       | unavailable
status  | --give-up-after 2s, longest backoff | 504                | 0.5 1 0.5              | unavailable
status  |                  | 429 retry-after 31                    |                        | rate_limited
result  | shortest backoff | 429 retry-after 7, COMPLETED          | 7                      | ok
watch   |                  | RUNNING, RUNNING, COMPLETED, COMPLETED | 10 10 0               | ok
watch   |                  | RUNNING, PAUSED, PAUSED, FAILED, FAILED | 10 10 10 0           | run_failed
watch   | longest backoff  | RUNNING, 502, 502, 502, RUNNING, 502, FAILED, FAILED | 10 0.5 1 2 10 0.5 0 | run_failed
watch   | longest backoff  | RUNNING, 502                          | 10 0.5 1 2 4 8 15 15 … | unavailable
watch   | longest backoff  | reset                                 | 0.5 1 2 4 8 15 15 …    | unavailable
watch   | --give-up-after 5s, longest backoff | RUNNING, 502       | 10 0.5 1 2 1.5         | unavailable
watch   | longest backoff  | 429, RUNNING, RUNNING, COMPLETED, COMPLETED | 0.5 10 10 0      | ok
watch   | shortest backoff | 429 retry-after 100, COMPLETED, COMPLETED | 100 0              | ok
watch   | --timeout 10m    | RUNNING, 429 retry-after 601          | 10                     | timeout
watch   | --timeout 10m    | RUNNING, 503 retry-after 601          | 10                     | timeout
watch   | --timeout 25m    | RUNNING, 429 retry-after 601, RUNNING, 429 retry-after 601, COMPLETED, COMPLETED | 10 600 10 600 0 | ok
watch   |                  | RUNNING, 429 retry-after 601, COMPLETED, COMPLETED | 10 600 0  | ok
watch   |                  | RUNNING, 503 retry-after 3600, 503 retry-after 3600, COMPLETED, COMPLETED | 10 600 600 0 | ok
watch   |                  | RUNNING retry-after 3600, COMPLETED, COMPLETED | 600 0         | ok
watch   |                  | RUNNING, 404 retry-after 100, COMPLETED, COMPLETED | 10 100 0  | ok
watch   |                  | RUNNING retry-after 40, RUNNING, COMPLETED retry-after 40, COMPLETED | 40 10 0 | ok
watch   |                  | RUNNING retry-after 3, COMPLETED, COMPLETED | 10 0             | ok
watch   | --timeout 15m    | RUNNING retry-after 601, RUNNING retry-after 601, COMPLETED, COMPLETED | 600 | timeout
watch   |                  | RUNNING retry-after 40, asleep 8h, COMPLETED, COMPLETED | 40 0 | ok
watch   | longest backoff  | RUNNING, 503 retry-after 300, 503 retry-after 300, 503 retry-after 300, 503 | 10 300 300 300 4 8 15 15 … | unavailable
watch   | --timeout 25s    | RUNNING                               | 10 10 5                | timeout
watch   | --timeout 25s    | RUNNING, RUNNING, RUNNING, COMPLETED, COMPLETED | 10 10 5 0    | ok
trigger |                  | 403 retry-after 7, COMPLETED          | 7                      | ok
trigger |                  | 403 retry-after 31                    |                        | rate_limited
trigger | longest backoff  | 403 retry-after soon, 403 retry-after 0, COMPLETED | 0.5 1     | ok
trigger | longest backoff  | 403-html retry-after 7, 403-html retry-after 31 | 7            | outcome_unknown
trigger |                  | 401 retry-after 7                     |                        | unauthorized
status  |                  | 403 retry-after 7, 403 retry-after 31 | 7                      | rate_limited
watch   |                  | 403 retry-after 7, RUNNING, COMPLETED, COMPLETED | 7 10 0      | ok
watch   | --timeout 25s    | RUNNING, RUNNING, RUNNING, 401        | 10 10 5                | timeout
watch   | --timeout 12s, longest backoff | RUNNING, 502            | 10 0.5 1 0.5           | timeout
watch   | --timeout 25s    | RUNNING, 429 retry-after 14, COMPLETED, COMPLETED | 10 14 0    | ok
watch   | --timeout 25s    | RUNNING, 429 retry-after 16, COMPLETED | 10                    | timeout
watch   | --timeout 1m, longest backoff | RUNNING, COMPLETED, 502, 502, COMPLETED | 10 0 0.5 1 | ok
watch   | longest backoff  | COMPLETED, RUNNING, RUNNING, COMPLETED | 0 0.5 1               | ok
watch   | longest backoff  | FAILED, 404                           | 0 0.5 1 2 4 8 15 15 …  | run_failed
watch   | longest backoff  | RUNNING, 404-html, 404, 410, COMPLETED, COMPLETED | 10 0.5 1 2 0 | ok
watch   | --give-up-after 2s, longest backoff | RUNNING, 404-html  | 10 0.5 1 0.5           | unavailable
watch   | longest backoff  | COMPLETED, 404, 404, COMPLETED        | 0 0.5 1                | ok
watch   | --timeout 10s, longest backoff | RUNNING, COMPLETED, 502 | 10 0 0.5 1 2           | result_unavailable
watch   | --timeout 10s, longest backoff | RUNNING, FAILED, 502    | 10 0 0.5 1 2           | run_failed
watch   | --give-up-after 2s, longest backoff | COMPLETED, RUNNING | 0 0.5 1 0.5            | result_unavailable
watch   | --give-up-after 2s, longest backoff | FAILED, RUNNING    | 0 0.5 1 0.5            | run_failed
watch   |                  | COMPLETED, FAILED                     | 0                      | run_failed
watch   |                  | CANCELLED, TIMED_OUT                  | 0                      | run_timed_out
watch   |                  | FAILED, COMPLETED                     | 0                      | run_failed
watch   | run of ours, longest backoff | 404, 404, 404, RUNNING, COMPLETED, COMPLETED | 0.5 1 2 10 0 | ok
watch   | run of ours, longest backoff | 422-notFound              | 0.5 1 2 4 8 15 15 15   | not_found
watch   | run of ours, longest backoff | 404                       | 0.5 1 2 4 8 15 15 …    | unavailable
watch   | run of another process, longest backoff | 422-notFound   | 0.5 1 2 4 8 15         | not_found
watch   | run of another process, longest backoff | 404            | 0.5 1 2 4 8 15 15      | not_found
watch   | run of another process, longest backoff | 422-notFound, 404, 410, RUNNING, COMPLETED, COMPLETED | 0.5 1 2 10 0 | ok
watch   | run of ours, longest backoff | COMPLETED, 404, 404, COMPLETED | 0 0.5 1           | ok
watch   | run of ours, longest backoff | COMPLETED, 422-notFound   | 0 0.5 1 2 4 8 15 15 15 | result_unavailable
watch   | run of ours, longest backoff | RUNNING, RUNNING, RUNNING, RUNNING, 422-notFound | 10 10 10 10 0.5 1 2 4 8 14.5 | not_found
watch   | longest backoff  | 404                                   | 0.5                    | not_found
watch   | longest backoff  | 404, 502, 410                         | 0.5 1                  | not_found
watch   | longest backoff  | 404, RUNNING, 410, 404, COMPLETED, COMPLETED | 0.5 10 0.5 1 0  | ok
watch   |                  | 422-notFound                          |                        | not_found
watch   | longest backoff  | RUNNING, 401                          | 10 0.5 1 2 4 8 14.5    | unauthorized
watch   | --give-up-after 5s, longest backoff | RUNNING, 401       | 10 0.5 1 2 1.5         | unauthorized
watch   | longest backoff  | RUNNING, 401, 502, 403, 422-notFound, 502, 502, 401 | 10 0.5 1 2 4 8 15 | unauthorized
watch   | longest backoff  | RUNNING, 401, 401, 401, 401, 401, 401, RUNNING, 401, COMPLETED, COMPLETED | 10 0.5 1 2 4 8 14.5 10 0.5 0 | ok
watch   | shortest backoff | RUNNING, 401 retry-after 40, 401      | 10 40                  | unauthorized
watch   |                  | 401                                   |                        | unauthorized
watch   |                  | expired                               |                        | unavailable
watch   |                  | proxy-407                             |                        | unavailable
watch   |                  | broken-tls                            |                        | unavailable
watch   | longest backoff  | 302                                   | 0.5 1 2 4 8 15 15 …    | unavailable
watch   | longest backoff  | 402, 400, 405, RUNNING, COMPLETED, COMPLETED | 0.5 1 2 10 0    | ok
watch   | longest backoff  | 200-huge                              | 0.5 1 2 4 8 15 15 …    | unavailable
watch   | --interval 5m    | RUNNING, asleep 8h, COMPLETED, COMPLETED | 5 0                 | ok
watch   | --interval 5m    | RUNNING, stopped 8h, COMPLETED, COMPLETED | 28800 0            | ok
watch   | --interval 5m, longest backoff | RUNNING, asleep 8h, refused, refused, COMPLETED | 5 0.5 1 0 | ok
watch   | --interval 5m, longest backoff | RUNNING, stopped 8h, refused, refused, COMPLETED | 28800 0.5 1 0 | ok
watch   |                  | RUNNING, 502, stopped 8h, 502, COMPLETED | 10 28800 0.5 0      | ok
watch   | --timeout 1h, --interval 5m | RUNNING, stopped 8h, COMPLETED, COMPLETED | 28800 0 | ok
watch   | --timeout 1h, --interval 5m | RUNNING, stopped 8h, RUNNING | 28800 30             | timeout
watch   | --timeout 1h, --interval 5m | RUNNING, asleep 8h, RUNNING | 5 30                  | timeout
watch   | --timeout 1h, longest backoff | RUNNING, stopped 8h, 502 | 28800 0.5 1 2 4 8 14.5 | timeout
watch   | --give-up-after 1s, longest backoff | RUNNING, 502, stopped 8h, 502 | 10 28800 1 2 4 8 15 … | unavailable
watch   | longest backoff  | RUNNING, 503 retry-after 300, asleep 1m, RUNNING, COMPLETED | 10 300 10 0 | ok
watch   | longest backoff  | RUNNING, 503 retry-after 300, asleep 8h, RUNNING, COMPLETED | 10 300 10 0 | ok
watch   |                  | RUNNING, 502, asleep 8h, 502, COMPLETED | 10 0.25 0.5 0        | ok
watch   | longest backoff  | RUNNING, stalled 8h, COMPLETED, COMPLETED | 10 28800.5 0       | ok
watch   | --give-up-after 5s, longest backoff | RUNNING, stalled 8h, 502 | 10 28800.5 1 2 4 8 14.5 | unavailable
watch   | --timeout 1h, --interval 20s | RUNNING, stalled 8h, RUNNING | 20 28800.25 20 9.75 | timeout
watch   | longest backoff  | RUNNING, 401, 401, 401, 401, stopped 1m, 401 | 10 0.5 1 2 60 8 15 15 | unauthorized
watch   | longest backoff  | COMPLETED, stalled 8h, COMPLETED      | 0 28800.5              | ok
status  | longest backoff  | stalled 8h, COMPLETED                 | 28800.5                | ok
trigger |                  | 429 retry-after 30, asleep 20s, COMPLETED | 30                 | ok
status  | longest backoff  | 429 retry-after 20, stopped 8h, 502, COMPLETED | 28800 1       | ok`;

const [, ...vectors] = rowsOf(timings).map(([request = '', given = '', responses = '', seconds = '', end = '']) => {
  return { request, given, responses, seconds, end };
});

const givenWords: Record<string, Given> = {
  'shortest backoff': { chance: 0 },
  'longest backoff': { chance: 1 },
  'run of ours': { isOurs: true },
  'run of another process': { isOfAnotherProcess: true },
};

/** What a cell of the second column gives: words from the list above, or flags with their durations. */
function readGiven(cell: string): Given {
  const parts = cell.split(', ').filter((part) => part !== '');
  const given = parts.map((part): Given => {
    const [, flag, duration = ''] = /^--([\w-]+) (\w+)$/.exec(part) ?? [];
    const ms = parseDuration(duration);
    if (flag === 'give-up-after') return { giveUpAfterMs: ms };
    if (flag === 'timeout') return { timeoutMs: ms };
    if (flag === 'interval') return { intervalMs: ms };
    const known = givenWords[part];
    if (!known) throw new Error(`no such condition: ${part}`);
    return known;
  });
  return Object.assign({}, ...given);
}

describe('the time of the next attempt', () => {
  test.each(vectors)('$request $given: $responses', async ({ request, given, responses, seconds, end }) => {
    const outcome = await runners[request as keyof typeof runners](responses, readGiven(given));
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

describe('a series of retries', () => {
  const chances = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  const waits = fc.option(fc.integer({ min: 0, max: 3_600_000 }), { nil: undefined });

  test('draws each backoff from all of its range, and never less than the service asked for', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5000 }), chances, waits, (failures, chance, retryAfterMs) => {
        const ceilingMs = Math.min(15_000, 500 * 2 ** (failures - 1));
        const delayMs = backoffMs(failures, Number.POSITIVE_INFINITY, () => chance, retryAfterMs);
        expect(delayMs).toBe(Math.max(50, chance * ceilingMs, retryAfterMs ?? 0));
      }),
    );
  });

  test('ends if no time is left, or if the service asks for more; otherwise the wait ends in time', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1000, max: 600_000 }), chances, waits, (leftMs, chance, retryAfterMs) => {
        const waitMs = backoffMs(9, leftMs, () => chance, retryAfterMs);
        if (leftMs <= 0 || (retryAfterMs ?? 0) > leftMs) expect(waitMs).toBeUndefined();
        else {
          expect(waitMs).toBeLessThanOrEqual(leftMs);
          expect(waitMs).toBeGreaterThanOrEqual(retryAfterMs ?? 0);
        }
      }),
    );
  });

  test('is limited by the time without a valid response, however many attempts fail in it', async () => {
    for (const chance of [0, 0.1, 0.5, 1]) {
      const { gapsMs } = await runners.watch('RUNNING, 502', { chance, giveUpAfterMs: 10_000 });
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
