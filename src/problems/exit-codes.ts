import { type FinalStatus, finalStatusOf, isFinal, type Run } from '../runs/run.ts';

/** An exit code. `explain`, the README and the man page take them all from the table below. */
export interface ExitCode {
  code: number;
  name: string;
  meaning: string;
  advice: string;
}

const interrupted = '`runctl watch` watches the run again. If a trigger was interrupted, run `runctl recover`.';

/** Each name with its code, its meaning in one clause, and what to do about it. */
const table = {
  ok: [0, 'what was asked for has happened (a watch: every run COMPLETED)', 'Nothing to do.'],
  run_failed: [
    1,
    'the run finished FAILED',
    'Read the error and the output with `runctl result`, fix the cause, then trigger again.',
  ],
  usage: [
    2,
    'wrong arguments or settings; nothing was sent',
    'The message names the argument or setting. `runctl <command> --help` shows what it takes.',
  ],
  run_timed_out: [
    3,
    'the run finished TIMED_OUT',
    'The service ends a run after 3 hours. Make the Automation do less in one run, then trigger again.',
  ],
  run_cancelled: [
    4,
    'the run finished CANCELLED',
    'Somebody or something cancelled the run. Trigger again if that was not meant.',
  ],
  already_active: [
    5,
    'the automation is already running; with `--if-active wait`: still, when `--timeout` passed',
    'An Automation has one active run at most. `--if-active wait`, `skip` or `attach` says what to do instead.',
  ],
  not_found: [
    6,
    'no such automation or run',
    'Check the id, the project and the automation name. `runctl list` shows the runs of this machine.',
  ],
  unauthorized: [
    7,
    'the API key was refused (401, 403)',
    '`runctl config list` shows where the API key comes from; `runctl config set apiKey` stores another.',
  ],
  no_credits: [8, 'the AI credit balance is 0 (402)', 'Top up the balance, then trigger again.'],
  rate_limited: [
    9,
    '429 until the retries ended',
    'Come back when the message says, or wait longer with `--give-up-after`.',
  ],
  unavailable: [
    10,
    'no valid answer until the retries ended, or at once where a retry cannot help (certificate, proxy)',
    '`runctl doctor` finds out what is in the way. A run that was being watched was left alone: `runctl watch` watches it again.',
  ],
  rejected: [
    11,
    'the service refused the request for another reason',
    'Read the message; `--json` prints it as data, `--debug` prints the request and the answer.',
  ],
  outcome_unknown: [
    12,
    'the answer to a trigger was lost; a run may have been started',
    'Do not repeat the command: run `runctl recover`. It sends the same trigger again with the same idempotency key, which finds the run, or starts it if the request never arrived.',
  ],
  result_unavailable: [
    13,
    'a watched run COMPLETED, its result could not be read',
    'Ask for the result again later with `runctl result`.',
  ],
  watch_failed: [
    14,
    '`trigger --watch` has a run, but could not follow it; the run was left alone',
    'The message says why, and names the run. `runctl watch` watches it again.',
  ],
  overdue: [
    15,
    '`check`: no run completed within the time',
    'Read what became of the last runs with `runctl list`, and trigger one if that is still useful.',
  ],
  still_running: [16, '`--exit-status` of an unfinished run', 'Ask again later, or wait with `runctl watch`.'],
  internal_error: [
    70,
    'a fault of runctl',
    'Please report it with the message and the version. If a trigger was cut short, run `runctl recover`.',
  ],
  output_error: [
    74,
    'the answer could not be written (full disk)',
    'Make room, then ask again: `runctl list` has the runs that were started.',
  ],
  timeout: [124, '`--timeout` passed; the run was left alone', '`runctl watch` watches the run again.'],
  interrupted_hangup: [129, 'interrupted by SIGHUP; the run was left alone', interrupted],
  interrupted: [130, 'interrupted by Ctrl-C; the run was left alone', interrupted],
  pipe_closed: [
    141,
    'the reader of the output left while runs were unfinished; they were left alone',
    'Nothing to do if that was meant. `runctl watch --all` watches the runs again.',
  ],
  interrupted_terminated: [143, 'interrupted by SIGTERM; the run was left alone', interrupted],
} as const satisfies Record<string, readonly [code: number, meaning: string, advice: string]>;

export type ExitName = keyof typeof table;
const names = Object.keys(table) as ExitName[];

export const signalExits = {
  SIGHUP: 'interrupted_hangup',
  SIGINT: 'interrupted',
  SIGTERM: 'interrupted_terminated',
} as const satisfies Record<string, ExitName>;

const isSignalName = (name: ExitName): boolean => Object.values<ExitName>(signalExits).includes(name);

/** Was the command ended by the user, or because nobody reads its output any more? */
export const isInterruptName = (name: ExitName): boolean => isSignalName(name) || name === 'pipe_closed';

/** The name that users see: the three signals share `interrupted`, and differ by their codes. */
export const publicNameOf = (name: ExitName): string => (isSignalName(name) ? 'interrupted' : name);

export const exitCodes: readonly ExitCode[] = names.map((name) => {
  const [code, meaning, advice] = table[name];
  return { code, name: publicNameOf(name), meaning, advice };
});

export function signalOfExitCode(exitCode: number): string | undefined {
  return Object.entries(signalExits).find(([, name]) => exitCodeOf(name) === exitCode)?.[0];
}

/** A signal wins, then a trigger in doubt, then the first that is not ok; `pipe_closed` replaces ok and timeout. */
export function exitCodeOfAll(names: readonly ExitName[]): number {
  const own = names.filter((name) => name !== 'pipe_closed');
  const gravest =
    own.find(isSignalName) ??
    own.find((name) => name === 'outcome_unknown') ??
    own.find((name) => name !== 'ok') ??
    'ok';
  const isReplaced = own.length < names.length && (gravest === 'ok' || gravest === 'timeout');
  return exitCodeOf(isReplaced ? 'pipe_closed' : gravest);
}

export const exitCodeOf = (name: ExitName): number => table[name][0];

/** The exit code of a command whose output was lost, or whose reader left before its runs had finished. */
export function exitCodeWithOutput(exitCode: number, { lost, closed }: { lost?: Error; closed: AbortSignal }): number {
  const replaced = (['ok', 'timeout', 'pipe_closed'] as const).map(exitCodeOf);
  if (lost && replaced.includes(exitCode)) return exitCodeOf('output_error');
  return closed.aborted && exitCode === exitCodeOf('timeout') ? exitCodeOf('pipe_closed') : exitCode;
}

const endings: Record<FinalStatus, ExitName> = {
  COMPLETED: 'ok',
  FAILED: 'run_failed',
  TIMED_OUT: 'run_timed_out',
  CANCELLED: 'run_cancelled',
};

/** The exit name for a run with this status: `still_running` while it is unfinished. */
export function exitNameOfRun({ target }: Run, status: string): ExitName {
  return isFinal(target, status) ? exitNameOfStatus(status) : 'still_running';
}

/** The exit name for a run with this final status; an undocumented status is no success. */
export function exitNameOfStatus(status: string): ExitName {
  const known = finalStatusOf(status);
  return known ? endings[known] : 'run_failed';
}
