import { lstatSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getBuiltinModule } from 'node:process';
import { makeOwnFolder, readOwn } from '../open-own.ts';
import { localTime } from '../runs/time-text.ts';
import { type Processes, shownProcess } from './processes.ts';

/** The claim of a process to be the only one that follows the runs of a base URL in a state folder. */
export interface FollowerClaim {
  renew(): boolean; // call at least every ten seconds; false if another process took over the claim
  release(): void;
}

export interface Follower {
  process: string;
  since: string;
  hasHook: boolean; // it runs an `--on-final` command for each run
}

interface ClaimOptions {
  folder: string;
  baseUrl: string;
  hasHook?: boolean;
  processes: Processes;
  nowMs(): number;
}

/** If we can't know whether a process is still running, its claim lasts this long after the last renewal. */
const staleMs = 60_000;
const mostMebibytes = 1;

/** The process that holds the claim, or held it when it was killed. */
export function followerOf(
  baseUrl: string,
  folder: string,
  processes: Processes,
): { name: string; isAlive: boolean; hasHook: boolean } | undefined {
  const path = claimPath(folder, baseUrl);
  const follower = followerIn(textOf(path));
  if (!follower) return undefined;
  const { hasHook } = follower;
  return { name: nameOfFollower(follower), isAlive: isAlive(follower, path, processes), hasHook };
}

export const nameOfFollower = ({ process, since }: Follower): string =>
  `${shownProcess(process)} (since ${localTime(since)})`;

function claimPath(folder: string, baseUrl: string): string {
  const { createHash } = getBuiltinModule('node:crypto');
  const name = createHash('sha256').update(baseUrl).digest('hex').slice(0, 12);
  return join(folder, `follower-${name}.json`);
}

/** Takes the claim, or returns the process that holds it. Throws as `makeOwnFolder` does, and the errors of node:fs. */
export function claimFollowing({
  folder,
  baseUrl,
  hasHook = false,
  processes,
  nowMs,
}: ClaimOptions): FollowerClaim | Follower {
  const path = claimPath(makeOwnFolder(folder), baseUrl);
  const own: Follower = { process: processes.own, since: new Date(nowMs()).toISOString(), hasHook };
  const text = JSON.stringify(own);
  for (;;) {
    try {
      writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
      return {
        renew() {
          const found = textOf(path);
          if (found !== text && followerIn(found)) return false;
          try {
            if (found === text) utimesSync(path, new Date(), new Date());
            else writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
          } catch {
            // A folder that is unavailable for a while doesn't mean that another process took over.
          }
          return true;
        },
        release() {
          if (textOf(path) === text) rmSync(path, { force: true });
        },
      };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
        // A full disk accepts a file's name, but not its content.
        if (textOf(path) === '') rmSync(path, { force: true });
        throw error;
      }
    }
    const other = followerIn(textOf(path));
    if (other && isAlive(other, path, processes)) return other;
    // If two processes take over a claim at once, one loses it, and finds out when it renews.
    rmSync(path, { force: true });
  }
}

function isAlive(other: Follower, path: string, processes: Processes): boolean {
  const state = processes.stateOf(other.process);
  if (state !== 'unknown') return state === 'running';
  const stat = lstatSync(path, { throwIfNoEntry: false });
  // The clock may have been set back since, or it may be another host's.
  return stat !== undefined && Math.abs(Date.now() - stat.mtimeMs) < staleMs;
}

function textOf(path: string): string {
  try {
    return readOwn(path, mostMebibytes).bytes.toString();
  } catch {
    return '';
  }
}

function followerIn(text: string): Follower | undefined {
  try {
    const { process, since, hasHook } = JSON.parse(text);
    const isFollower = typeof process === 'string' && typeof since === 'string' && !Number.isNaN(Date.parse(since));
    return isFollower ? { process, since, hasHook: hasHook === true } : undefined;
  } catch {
    return undefined;
  }
}
