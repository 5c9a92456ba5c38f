import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openLimits } from '../../src/journal/limits.ts';
import { withSharedLimits } from '../../src/session/shared-limits.ts';
import { fault, resultOf, run, running, scriptedService, target } from '../helpers/scripted-service.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { createVirtualClock } from '../helpers/virtual-clock.ts';

const signal = new AbortController().signal;
const request = { target, idempotencyKey: 'key-1', body: '{}' };
const limit = (retryAfterMs?: number) => fault('throttled', { httpStatus: 429, retryAfterMs });

/** Processes of one machine, each with its own script of answers. */
function machine(folder: string | undefined = temporaryFolder()) {
  const clock = createVirtualClock();
  const process = (scripts: Parameters<typeof scriptedService>[0], account = 'account', baseUrl = 'https://a.test') => {
    const limits = openLimits({ folder, baseUrl, account: () => account, nowMs: clock.nowMs });
    const service = scriptedService(scripts);
    return { ...withSharedLimits(service, limits, clock), calls: service.calls, limits };
  };
  return { clock, process, folder };
}

describe('a wait that the service asked for', () => {
  test('is kept by every other process of the machine, without a request', async () => {
    const { clock, process } = machine();
    const first = process({ status: [limit(7_000)] });
    expect(await first.status(run, signal)).toEqual(limit(7_000));
    const second = process({ status: [running()], result: [resultOf('COMPLETED')] });
    const answer = {
      kind: 'fault',
      fault: { kind: 'throttled', transient: true, acted: 'no', retryAfterMs: 7_000, heldBack: true },
    };
    expect(await second.status(run, signal)).toMatchObject(answer);
    expect(await second.result(run, signal)).toMatchObject(answer);
    expect(second.calls).toEqual({ trigger: [], status: 0, result: 0 });
    await clock.sleep(7_000);
    expect(await second.status(run, signal)).toEqual(running());
  });

  test('that is nearly over is waited for rather than told', async () => {
    const { clock, process } = machine();
    await process({ status: [limit(1_000)] }).status(run, signal);
    await clock.sleep(960);
    expect(await process({ status: [running()] }).status(run, signal)).toEqual(running());
    expect(clock.elapsedMs()).toBe(1_000);
  });

  test('of no length counts as two seconds', async () => {
    const { process } = machine();
    const { status, limits } = process({ status: [limit()] });
    await status(run, signal);
    expect(limits.leftMs('look')).toBe(2_000);
  });

  test('comes with any refusal that names a time, not with 429 alone', async () => {
    const { process } = machine();
    const { status, limits } = process({ status: [fault('unavailable', { httpStatus: 503, retryAfterMs: 4_000 })] });
    await status(run, signal);
    expect(limits.leftMs('look')).toBe(4_000);
  });

  test('of triggers does not hold up looks, nor the other way round', async () => {
    const { process } = machine();
    await process({ trigger: [limit(5_000)] }).trigger(request, signal);
    const other = process({ status: [running()], trigger: [running()] });
    expect(await other.status(run, signal)).toEqual(running());
    expect((await other.trigger(request, signal)).kind).toBe('fault');
    expect(other.calls.trigger).toEqual([]);
  });

  test.each([
    ['another key', 'other', 'https://a.test'],
    ['another address', 'account', 'https://b.test'],
  ])('does not hold up %s', async (_, account, baseUrl) => {
    const { process } = machine();
    await process({ status: [limit(5_000)] }).status(run, signal);
    expect(await process({ status: [running()] }, account, baseUrl).status(run, signal)).toEqual(running());
  });

  test('is never shortened by another', async () => {
    const { process } = machine();
    const { limits } = process({});
    limits.set('look', 60_000);
    limits.set('look', 1_000);
    expect(limits.leftMs('look')).toBe(60_000);
  });

  test('of a day silences the machine for an hour and no more', () => {
    const { limits } = machine().process({});
    limits.set('look', 86_400_000);
    expect(limits.leftMs('look')).toBe(3_600_000);
  });

  test('is over when the clock was set back by more than it', async () => {
    const folder = temporaryFolder();
    const opened = (nowMs: number) =>
      openLimits({ folder, baseUrl: 'https://a.test', account: () => 'account', nowMs: () => nowMs });
    const nowMs = Date.UTC(2026, 10, 21);
    opened(nowMs).set('look', 60_000);
    expect(opened(nowMs - 86_400_000).leftMs('look')).toBe(0);
  });
});

describe('the record of it', () => {
  test('holds a time and nothing else, for its owner alone', async () => {
    const { folder, process } = machine();
    process({}).limits.set('look', 1_000);
    const place = join(folder, 'limits');
    const [name = ''] = readdirSync(place);
    expect(name).toMatch(/^[0-9a-f]{12}-look$/);
    expect(statSync(join(place, name)).mode & 0o777).toBe(0o600);
    expect(statSync(place).mode & 0o777).toBe(0o700);
    expect(statSync(join(place, name)).size).toBe(13);
  });

  test.each(['', '1', '99999999999999', 'not a time', '{"a":1}'])('that says %j counts as none', (text) => {
    const { folder, process } = machine();
    const { limits } = process({});
    limits.set('look', 1_000);
    const [name = ''] = readdirSync(join(folder, 'limits'));
    writeFileSync(join(folder, 'limits', name), text);
    expect(limits.leftMs('look')).toBe(0);
  });

  test('may be out of reach: each process then learns for itself', async () => {
    const blocked = temporaryFolder();
    writeFileSync(join(blocked, 'limits'), 'a file where the folder should be');
    const nowhere = join(temporaryFolder(), 'gone');
    mkdirSync(nowhere);
    for (const folder of [blocked, nowhere, '/dev/null/x']) {
      const { process } = machine(folder);
      expect(await process({ status: [limit(5_000)] }).status(run, signal)).toEqual(limit(5_000));
    }
    const { limits } = machine(blocked).process({});
    limits.set('look', 5_000);
    expect(limits.leftMs('look')).toBe(0);
  });
});
