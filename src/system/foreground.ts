import { readFileSync } from 'node:fs';
import { getBuiltinModule, pid } from 'node:process';

/**
 * Whether this process is in the foreground of its terminal at this moment. It isn't in the
 * background of a shell, nor without a controlling terminal (`setsid`). `resumptions` counts how
 * often the process was continued after it was stopped.
 */
export function createForeground(resumptions: () => number): () => boolean {
  let lastAnswer: { isInForeground: boolean; atResumption: number } | undefined;
  return () => {
    const groups = groupsFromProc();
    if (groups) return isInForeground(groups);
    // Where there is no /proc, asking starts a process, so the answer is kept until the process was
    // stopped. A shell moves a command to the background only by stopping it first.
    if (lastAnswer?.atResumption !== resumptions()) {
      const answer = isInForeground(groupsFromPs());
      lastAnswer = { isInForeground: answer, atResumption: resumptions() };
    }
    return lastAnswer.isInForeground;
  };
}

/** Process groups. */
interface Groups {
  own: number;
  /** -1 if the process has no terminal. */
  foreground: number;
}

const isInForeground = ({ own, foreground }: Groups) => own === foreground;

/**
 * Fields 5 and 8 of proc(5). The second one, the name of the program, may contain blanks and
 * brackets.
 */
function groupsFromProc(): Groups | undefined {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const [, , own, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { own: Number(own), foreground: Number(foreground) };
  } catch {
    return undefined; // macOS and FreeBSD have no such file
  }
}

/** If `ps` doesn't say, the process is taken to be in the foreground. */
function groupsFromPs(): Groups {
  const { spawnSync } = getBuiltinModule('node:child_process');
  const { stdout } = spawnSync('ps', ['-o', 'pgid=,tpgid=', '-p', String(pid)], {
    encoding: 'utf8',
  });
  const [own = 0, foreground = own] = (stdout ?? '')
    .trim()
    .split(/\s+/)
    .filter(Boolean)
    .map(Number);
  return { own, foreground };
}
