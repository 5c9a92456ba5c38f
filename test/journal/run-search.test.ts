import { describe, expect, test } from 'vitest';
import { type JournalRecord, type NewRecord, pathOf } from '../../src/journal/records.ts';
import { createRunSearch } from '../../src/journal/run-search.ts';
import { accepted, baseUrl, status, triggered, uuid } from './records.ts';

type OfRun = Parameters<ReturnType<typeof createRunSearch>['remember']>[0];

const elsewhere = 'https://elsewhere.example.com';
const stored = (record: NewRecord, at = '2026-11-22T03:00:00.000Z') =>
  ({ ...record, schema: 1, at, target: pathOf(record.target) }) as JournalRecord;

/** A search in these records, oldest first, and what it reads: `one` run, `all`, the `files`, and how many records. */
function searchIn(...given: NewRecord[]) {
  const records = given.map((record) => stored(record));
  const reads: string[] = [];
  const seen = { records: 0 };
  let caughtUpWith: number | undefined;
  function* read(_: object, { needle, oldestFirst }: { needle?: string | RegExp; oldestFirst?: boolean } = {}) {
    reads.push(needle === undefined ? 'all' : 'one');
    for (const record of oldestFirst ? records : records.toReversed()) {
      if (
        Buffer.from(JSON.stringify(record))
          .toString('latin1')
          .search(needle ?? '') === -1
      )
        continue;
      seen.records += 1;
      yield record;
    }
  }
  const readFiles = () => {
    reads.push('files');
    return [Buffer.from(records.map((record) => JSON.stringify(record)).join('\n'))];
  };
  const readAppended = () => {
    const appended = records.slice(caughtUpWith ?? records.length);
    caughtUpWith = records.length;
    return appended;
  };
  const { find, findElsewhere, remember } = createRunSearch({ read, readFiles, readAppended });
  return {
    reads,
    seen,
    append: (record: NewRecord) => records.push(stored(record)),
    findElsewhere,
    remember: (record: NewRecord) => remember(stored(record) as OfRun),
    statusOf: (id: string, fresh?: boolean) => find(id, { baseUrl, fresh })?.status,
  };
}

describe('a run', () => {
  test('that was found is not read again', () => {
    const { statusOf, reads } = searchIn(status(1, 'RUNNING'), status(1, 'PAUSED'));
    expect([statusOf(uuid(1)), statusOf(uuid(1))]).toEqual(['PAUSED', 'PAUSED']);
    expect(reads).toEqual(['one']);
  });

  test('that was not found is not sought again, and known once this process has written of it', () => {
    const { statusOf, reads, remember } = searchIn(status(1, 'RUNNING'));
    expect([statusOf(uuid(2)), statusOf(uuid(2))]).toEqual([undefined, undefined]);
    remember(status(2, 'RUNNING'));
    remember(status(2, 'FAILED'));
    expect(statusOf(uuid(2))).toBe('FAILED');
    expect(reads).toEqual(['one']);
  });

  test('of which this process has written something is sought all the same, unless that was its first record', () => {
    const { statusOf, reads, remember } = searchIn(status(1, 'FAILED'));
    remember(status(1, 'RUNNING'));
    remember({ ...status(2, 'RUNNING'), first: true });
    expect([statusOf(uuid(1)), statusOf(uuid(2))]).toEqual(['FAILED', 'RUNNING']);
    expect(reads).toEqual(['one']);
  });

  test('is read from the end to its first record, and no other', () => {
    const key = { idempotencyKey: uuid(1) };
    const { statusOf, seen } = searchIn(
      status(1, 'COMPLETED'),
      { ...status(1, 'RUNNING'), first: true },
      status(1, 'FAILED'),
      { ...triggered(2), ...key },
      { ...accepted(2), ...key, first: true },
    );
    expect(statusOf(uuid(1))).toBe('FAILED');
    expect(seen.records).toBe(4);
  });

  test('of another base URL is another', () => {
    const { statusOf, findElsewhere, reads } = searchIn(
      { ...status(1, 'FAILED'), baseUrl: elsewhere },
      status(2, 'RUNNING'),
      { ...status(2, 'FAILED'), baseUrl: elsewhere, first: true },
    );
    expect([statusOf(uuid(1)), statusOf(uuid(2))]).toEqual([undefined, 'RUNNING']);
    expect([findElsewhere(uuid(1), baseUrl), findElsewhere(uuid(1), elsewhere)]).toEqual([elsewhere, undefined]);
    expect(reads).not.toContain('all');
  });

  test('is not taken for elsewhere where its id is the key of another', () => {
    const other = { baseUrl: elsewhere, idempotencyKey: uuid(1) };
    const { findElsewhere } = searchIn({ ...triggered(2), ...other }, { ...accepted(2), ...other });
    expect(findElsewhere(uuid(1), baseUrl)).toBeUndefined();
  });

  test('that this process began is as others say of it since, where that counts', () => {
    const { statusOf, append, remember } = searchIn();
    remember({ ...status(1, 'RUNNING'), first: true });
    append(status(1, 'FAILED'));
    expect([statusOf(uuid(1)), statusOf(uuid(1), true)]).toEqual(['RUNNING', 'FAILED']);
  });

  test('of which other processes have written is as they say, where that counts', () => {
    const { statusOf, append, reads } = searchIn(status(1, 'RUNNING'));
    expect([statusOf(uuid(1)), statusOf(uuid(2)), statusOf(uuid(3))]).toEqual(['RUNNING', undefined, undefined]);
    const readBefore = [...reads];
    append(status(1, 'FAILED'));
    append({ ...status(2, 'RUNNING'), first: true });
    append({ ...status(3, 'RUNNING'), baseUrl: elsewhere });
    expect([statusOf(uuid(1)), statusOf(uuid(2))]).toEqual(['RUNNING', undefined]);
    expect([statusOf(uuid(2), true), statusOf(uuid(1)), statusOf(uuid(3))]).toEqual(['RUNNING', 'FAILED', undefined]);
    expect(reads).toEqual(readBefore);
  });

  test('is found in upper and lower case', () => {
    const capitals = { ...status(1, 'RUNNING'), executionId: uuid(1).replace(/^1/, 'A') };
    const typed = capitals.executionId.toLowerCase();
    const { statusOf } = searchIn(capitals, { ...status(1, 'PAUSED'), executionId: typed });
    expect([statusOf(typed), statusOf(capitals.executionId)]).toEqual(['PAUSED', 'PAUSED']);
  });
});

describe('after a search that found nothing', () => {
  const capitals = uuid(1).replace(/^1/, 'A');

  test('the ids of all files are read once, and nothing for a run that is nowhere', () => {
    const { statusOf, findElsewhere, reads } = searchIn(
      { ...status(1, 'RUNNING'), executionId: capitals },
      status(2, 'FAILED'),
    );
    const found = [uuid(7), uuid(8), uuid(9), uuid(8)].map((id) => statusOf(id));
    expect(found).toEqual([undefined, undefined, undefined, undefined]);
    expect(findElsewhere(uuid(9), elsewhere)).toBeUndefined();
    expect(reads).toEqual(['one', 'files']);
    expect([statusOf(capitals.toLowerCase()), statusOf(uuid(2))]).toEqual(['RUNNING', 'FAILED']);
    expect(findElsewhere(uuid(2), elsewhere)).toBe(baseUrl);
  });

  test('a run that another process has written of since is found, whether or not that counts', () => {
    const { statusOf, append } = searchIn(status(1, 'FAILED'));
    expect([7, 8].map((n) => statusOf(uuid(n)))).toEqual([undefined, undefined]);
    append({ ...status(5, 'RUNNING'), first: true });
    append({ ...status(6, 'PAUSED'), first: true });
    expect([statusOf(uuid(5)), statusOf(uuid(6), true)]).toEqual(['RUNNING', 'PAUSED']);
  });

  test('an id that a file may hold in other characters is sought', () => {
    const odd = 'é "b" c';
    const { statusOf } = searchIn({ ...status(1, 'RUNNING'), executionId: odd });
    expect([7, 8, 9].map((n) => statusOf(uuid(n)))).toEqual([undefined, undefined, undefined]);
    expect(statusOf(odd)).toBe('RUNNING');
  });
});

test('from the 64th run on, everything is read once and nothing more', () => {
  const numbers = Array.from({ length: 80 }, (_, n) => n + 1);
  const all = numbers.flatMap((n) => [status(n, 'RUNNING'), ...(n % 2 ? [status(n, 'PAUSED')] : [])]);
  const { statusOf, reads } = searchIn(...all);
  expect(numbers.map((n) => statusOf(uuid(n)))).toEqual(numbers.map((n) => (n % 2 ? 'PAUSED' : 'RUNNING')));
  expect(statusOf(uuid(99))).toBeUndefined();
  expect(reads).toEqual([...numbers.slice(0, 63).map(() => 'one'), 'all', 'one']);
});
