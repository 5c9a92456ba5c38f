import { readFileSync, readlinkSync } from 'node:fs';
import { getBuiltinModule, kill, pid } from 'node:process';
import { ageOf, type UnresolvedTrigger } from '../run/entry.ts';

export type Processes = ReturnType<typeof createProcesses>;

/**
 * Knows whether the process that wrote a record is still running. If this host has booted since
 * then, it isn't. But two hosts may have one name, and if the service ignores idempotency keys, a
 * mistake about that would start a second run.
 */
export function createProcesses({ ignoresKeys = false }: { ignoresKeys?: boolean } = {}) {
  const host = hostOf();
  return {
    /** The name of this process: its host or container, process id and start time. */
    own: [host, pid, statOf(pid).start].join(' '),
    /** `unknown` on another host or in another container. */
    stateOf(name: string): 'running' | 'ended' | 'unknown' {
      const [itsHost = '', itsPid, itsStart] = name.split(' ');
      if (itsHost !== host)
        return !ignoresKeys && isBeforeBoot(itsHost, host) ? 'ended' : 'unknown';
      const { state, start } = statOf(Number(itsPid));
      const isRunning =
        exists(Number(itsPid)) && start === itsStart && !endedStates.includes(state);
      return isRunning ? 'running' : 'ended';
    },
  };
}

/**
 * How long a process on another host is taken to be still sending. Most triggers have an outcome
 * sooner, and sending a key twice at once starts no second run.
 */
const otherHostMs = 180_000;

/**
 * The process that still sends a trigger, if any. On another host or in another container, its age
 * decides.
 */
export function senderOf(
  { senders }: Pick<UnresolvedTrigger, 'senders'>,
  { stateOf }: Processes,
  nowMs: number,
): string | undefined {
  const sender = senders.find(({ process, at }) => {
    const state = stateOf(process);
    return state === 'running' || (state === 'unknown' && ageOf({ at }, nowMs) < otherHostMs);
  });
  return sender?.process;
}

/** Whether both names have the same host, before and after a boot. */
function isBeforeBoot(one: string, other: string): boolean {
  const [oneName, oneBoot] = one.split('/');
  const [otherName, otherBoot] = other.split('/');
  return oneName === otherName && Boolean(oneBoot && otherBoot) && oneBoot !== otherBoot;
}

/** A process id is only meaningful within one boot and one container. */
function hostOf(): string {
  const boot = textOrEmpty(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
  const container = textOrEmpty(() => readlinkSync('/proc/self/ns/pid'));
  return [getBuiltinModule('node:os').hostname(), boot, container].join('/').replaceAll(/\s/g, '_');
}

/** A zombie waits for its parent, which may never collect it in a container. */
const endedStates = ['Z', 'X'];

/**
 * When a process started, in ticks since the boot, because ids are reused. Only Linux shows this
 * without a program.
 */
function statOf(id: number): { state: string; start: string } {
  // proc_pid_stat(5): the second field may contain anything, the third is the state, the 22nd the
  // start time.
  const stat = textOrEmpty(() => readFileSync(`/proc/${id}/stat`, 'utf8'));
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', start: fields[19] ?? '' };
}

function exists(id: number): boolean {
  try {
    return kill(id, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function textOrEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
