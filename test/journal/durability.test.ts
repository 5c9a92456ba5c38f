import { fdatasyncSync, fstatSync, fsyncSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { openJournal } from '../../src/journal/journal.ts';
import { createTriggerRecord } from '../../src/journal/trigger-recorder.ts';
import { createRateLimiter } from '../../src/runs/rate-limiter.ts';
import { sendUntilKnown } from '../../src/triggering/send-until-known.ts';
import { running } from '../helpers/scripted-service.ts';
import { createVirtualClock } from '../helpers/virtual-clock.ts';
import { account, key, refused } from './records.ts';
import { createStateFolder } from './state-folder.ts';

/** A journal that says what it puts on the disk, in order. */
function openWatched(fileBytes?: number) {
  const { folder, file } = createStateFolder();
  const happened: string[] = [];
  const inodes = () => ({ [inodeOf(folder)]: 'the folder', [inodeOf(dirname(folder))]: 'its parent' });
  const journal = openJournal({
    folder,
    fileBytes,
    nowMs: () => 0,
    onTrouble: (what) => expect.unreachable(what),
    sync: {
      file(fd) {
        happened.push(`file of ${readFileSync(file, 'utf8').split('\n').filter(Boolean).length} records`);
        fdatasyncSync(fd);
      },
      folder(fd) {
        happened.push(inodes()[fstatSync(fd).ino] ?? 'something else');
        fsyncSync(fd);
      },
    },
  });
  const send = async (number: number) => {
    const identity = { ...key(number), account, userProvided: false };
    const record = createTriggerRecord(journal, { ...identity, body: '{}', isRepeat: false });
    const clock = createVirtualClock();
    const trigger = async () => {
      happened.push('request');
      return running();
    };
    const { signal } = new AbortController();
    const limiter = createRateLimiter(10, clock);
    await sendUntilKnown(identity, '{}', {
      service: { trigger },
      limiter,
      record,
      clock,
      random: () => 0,
      signal,
      giveUpAfterMs: 0,
    });
  };
  return { journal, happened, send };
}

const inodeOf = (path: string) => statSync(path).ino;

test('a trigger, its file and its folder are on the disk before the first request is sent', async () => {
  const { happened, send } = openWatched();
  await send(1);
  expect(happened).toEqual(['file of 1 records', 'the folder', 'its parent', 'request']);
});

test('of a file that was there before, the record alone is put on the disk', async () => {
  const { happened, send } = openWatched();
  await send(1);
  happened.length = 0;
  await send(2);
  expect(happened).toEqual(['file of 3 records', 'request']);
});

test('the name of every next file is put on the disk, too', async () => {
  const { happened, send } = openWatched(1);
  await send(1);
  happened.length = 0;
  await send(2);
  expect(happened.slice(0, 4)).toEqual(['file of 1 records', 'the folder', 'its parent', 'request']);
});

test('no other record waits for the disk, but the file that it begins is safe for those that come', () => {
  const { journal, happened } = openWatched();
  expect(journal.append(refused(1))).toBe(true);
  expect(happened).toEqual(['the folder', 'its parent']);
  expect(journal.append(refused(2))).toBe(true);
  expect(happened).toHaveLength(2);
});
