import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  claimFollowing,
  type Follower,
  type FollowerClaim,
  followerOf,
  nameOfFollower,
} from '../../src/journal/follower-claim.ts';
import type { Processes } from '../../src/journal/processes.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

type State = ReturnType<Processes['stateOf']>;

/** Claims the runs of a base URL as the process of this name, to whom every other one is in this state. */
function claim(folder: string, own: string, state: State = 'running', baseUrl = 'https://a.example') {
  const processes = { own, stateOf: () => state };
  return claimFollowing({ folder, baseUrl, processes, nowMs: () => Date.parse('2026-11-22T01:00:00Z') });
}

const isClaim = (claimed: FollowerClaim | Follower): claimed is FollowerClaim => 'renew' in claimed;

test('the second follower of a state folder learns who the first one is', () => {
  const folder = temporaryFolder();
  expect(isClaim(claim(folder, 'host 1 1'))).toBe(true);
  expect(claim(folder, 'host 2 1')).toEqual({ process: 'host 1 1', since: '2026-11-22T01:00:00.000Z', hasHook: false });
});

test('another base URL has a follower of its own', () => {
  const folder = temporaryFolder();
  claim(folder, 'host 1 1');
  expect(isClaim(claim(folder, 'host 2 1', 'running', 'https://b.example'))).toBe(true);
});

test('the claim of a process that has exited is taken over, and that process would find out', () => {
  const folder = temporaryFolder();
  const first = claim(folder, 'host 1 1') as FollowerClaim;
  expect(first.renew()).toBe(true);
  const second = claim(folder, 'host 2 1', 'ended') as FollowerClaim;
  expect([first.renew(), second.renew()]).toEqual([false, true]);
  first.release();
  expect(claim(folder, 'host 3 1')).toMatchObject({ process: 'host 2 1' });
});

test('the claim of a process elsewhere is taken over only when it was not renewed for a minute', () => {
  const folder = temporaryFolder();
  claim(folder, 'elsewhere 1 1');
  expect(isClaim(claim(folder, 'host 2 1', 'unknown'))).toBe(false);
  const [name = ''] = readdirSync(folder);
  const old = new Date(Date.now() - 61_000);
  utimesSync(join(folder, name), old, old);
  const second = claim(folder, 'host 2 1', 'unknown') as FollowerClaim;
  utimesSync(join(folder, name), old, old);
  expect(second.renew()).toBe(true);
  expect(isClaim(claim(folder, 'host 3 1', 'unknown'))).toBe(false);
});

test.each([61_000, -61_000])(
  'the claim of a process elsewhere that was renewed %d ms before this clock is none',
  (agoMs) => {
    const folder = temporaryFolder();
    claim(folder, 'elsewhere 1 1');
    const [name = ''] = readdirSync(folder);
    utimesSync(join(folder, name), new Date(), new Date(Date.now() - agoMs));
    expect(isClaim(claim(folder, 'host 2 1', 'unknown'))).toBe(true);
  },
);

test.each([
  '',
  '{',
  'null',
  '{"process":1}',
  '{"process":"host 1 1"}',
  '{"process":1,"since":"S"}',
  '{"process":"host 1 1","since":"S"}',
])("a claim that can't be read is none: %j", (text) => {
  const folder = temporaryFolder();
  (claim(folder, 'host 1 1') as FollowerClaim).release();
  claim(folder, 'host 1 1');
  const [name = ''] = readdirSync(folder);
  writeFileSync(join(folder, name), text);
  expect(isClaim(claim(folder, 'host 2 1'))).toBe(true);
});

test.each<[State, boolean]>([
  ['running', true],
  ['ended', false],
  ['unknown', true],
])('the follower whose process is %s is known by its host and process id, and is alive: %s', (state, isAlive) => {
  const folder = temporaryFolder();
  const stateOf = (base: string) => followerOf(base, folder, { own: 'host 2 1', stateOf: () => state });
  expect(stateOf('https://a.example')).toBeUndefined();
  claim(folder, 'host/boot/container 1 1');
  const name = 'process 1 on host (since 2026-11-22 01:00:00 +0000)';
  expect(stateOf('https://a.example')).toEqual({ name, isAlive, hasHook: false });
  expect(stateOf('https://b.example')).toBeUndefined();
});

test('a host that has no other parts is named as it is', () => {
  const since = '2026-11-22T01:00:00.000Z';
  const name = 'process 7 on host (since 2026-11-22 01:00:00 +0000)';
  expect(nameOfFollower({ process: 'host 7 1', since, hasHook: false })).toBe(name);
});

test('an error of the file system is not taken for a follower', () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'file'), '');
  expect(() => claim(join(folder, 'file', 'state'), 'host 1 1')).toThrow('ENOTDIR');
});

test.runIf(process.platform === 'linux')('a folder that takes no files is an error, not a claim to wait for', () => {
  expect(() => claim('/proc', 'host 1 1')).toThrow(/ENOENT|EACCES/);
});

test('a claim that was released leaves nothing behind', () => {
  const folder = temporaryFolder();
  (claim(folder, 'host 1 1') as FollowerClaim).release();
  expect(readdirSync(folder)).toEqual([]);
});

test.each<[string, (folder: string) => void]>([
  ['removed', (folder) => rmSync(folder, { recursive: true })],
  ['emptied', (folder) => writeFileSync(join(folder, readdirSync(folder)[0] ?? ''), '')],
])('a claim that was %s, but taken by nobody, is kept', (_, change) => {
  const folder = temporaryFolder();
  const first = claim(folder, 'host 1 1') as FollowerClaim;
  change(folder);
  expect(first.renew()).toBe(true);
});

test.each<State>(['ended', 'unknown'])(
  'a claim that is removed by the one who holds it, whose process is %s, just as it is read is free',
  (state) => {
    const folder = temporaryFolder();
    const first = claim(folder, 'host 1 1') as FollowerClaim;
    const stateOf = () => {
      first.release();
      return state;
    };
    const processes = { own: 'host 2 1', stateOf };
    const claimed = claimFollowing({ folder, baseUrl: 'https://a.example', processes, nowMs: () => 0 });
    expect(isClaim(claimed)).toBe(true);
  },
);

test('an empty claim is left as it is, since another process may be about to write it', () => {
  const folder = temporaryFolder();
  const first = claim(folder, 'host 1 1') as FollowerClaim;
  const path = join(folder, readdirSync(folder)[0] ?? '');
  writeFileSync(path, '');
  first.renew();
  expect(readFileSync(path, 'utf8')).toBe('');
});

test('a claim that was removed is made again', () => {
  const folder = temporaryFolder();
  const first = claim(folder, 'host 1 1') as FollowerClaim;
  const [name = ''] = readdirSync(folder);
  expect(name).toMatch(/^follower-[\da-f]{12}\.json$/);
  rmSync(join(folder, name));
  expect(first.renew()).toBe(true);
  expect(isClaim(claim(folder, 'host 2 1'))).toBe(false);
  expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
});

test('a pipe in place of the claim, which nobody writes to, is taken over', () => {
  const folder = temporaryFolder();
  claim(folder, 'host 1 1');
  const [name = ''] = readdirSync(folder);
  rmSync(join(folder, name));
  execFileSync('mkfifo', [join(folder, name)]);
  expect(isClaim(claim(folder, 'host 2 1'))).toBe(true);
});
