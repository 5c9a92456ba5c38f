import { type FinalStatus, finalStatusOf, isFinal, type Run } from '../runs/run.ts';

/** What a process ends with. This table is the only one: `explain`, the README and the man page read it. */
export interface ExitCode {
  code: number;
  name: string;
  meaning: string;
  advice: string;
}

const table = [
  {
    code: 0,
    name: 'ok',
    meaning: 'what was asked for has happened (a watch: every run COMPLETED)',
    advice: 'Nothing to do.',
  },
  {
    code: 1,
    name: 'run_failed',
    meaning: 'the run finished FAILED',
    advice: 'Read the error and the output with `runctl result`, fix the cause, then trigger again.',
  },
  {
    code: 2,
    name: 'usage',
    meaning: 'wrong arguments or settings; nothing was sent',
    advice: 'The message names the argument or setting. `runctl <command> --help` shows what it takes.',
  },
  {
    code: 3,
    name: 'run_timed_out',
    meaning: 'the run finished TIMED_OUT',
    advice: 'The service ends a run after 3 hours. Make the Automation do less in one run, then trigger again.',
  },
  {
    code: 4,
    name: 'run_cancelled',
    meaning: 'the run finished CANCELLED',
    advice: 'Somebody or something cancelled the run. Trigger again if that was not meant.',
  },
  {
    code: 5,
    name: 'already_active',
    meaning: 'the automation is already running; with `--if-active wait`: still, when `--timeout` passed',
    advice: 'An Automation has one active run at most. `--if-active wait`, `skip` or `attach` says what to do instead.',
  },
  {
    code: 6,
    name: 'not_found',
    meaning: 'no such automation or run',
    advice: 'Check the id, the project and the automation name. `runctl list` shows the runs of this machine.',
  },
  {
    code: 7,
    name: 'unauthorized',
    meaning: 'the API key was refused (401, 403)',
    advice: 'Check which key is in force with `runctl config list`; set another with `runctl config set apiKey`.',
  },
  {
    code: 8,
    name: 'no_credits',
    meaning: 'the AI credit balance is 0 (402)',
    advice: 'Top up the balance, then trigger again.',
  },
  {
    code: 9,
    name: 'rate_limited',
    meaning: '429 until the retries ended',
    advice: 'Come back when the message says, or wait longer with `--give-up-after`.',
  },
  {
    code: 10,
    name: 'unavailable',
    meaning: 'no valid answer until the retries ended, or at once where a retry cannot help (certificate, proxy)',
    advice:
      '`runctl doctor` finds out what is in the way. A run that was being watched was left alone: `runctl watch` watches it again.',
  },
  {
    code: 11,
    name: 'rejected',
    meaning: 'the service refused the request for another reason',
    advice: 'Read the message; `--json` prints it as data, `--debug` prints the request and the answer.',
  },
  {
    code: 12,
    name: 'outcome_unknown',
    meaning: 'the answer to a trigger was lost; a run may have been started',
    advice:
      'Do not repeat the command: run `runctl recover`. It sends the same trigger again with the same idempotency key, which finds the run, or starts it if the request never arrived.',
  },
  {
    code: 13,
    name: 'result_unavailable',
    meaning: 'a watched run COMPLETED, its result could not be read',
    advice: 'Ask for the result again later with `runctl result`.',
  },
  {
    code: 14,
    name: 'watch_failed',
    meaning: '`trigger --watch` has a run, but could not follow it; the run was left alone',
    advice: 'The message says why, and names the run. `runctl watch` watches it again.',
  },
  {
    code: 15,
    name: 'overdue',
    meaning: '`check`: no run completed within the time',
    advice: 'Read what became of the last runs with `runctl list`, and trigger one if that is still useful.',
  },
  {
    code: 16,
    name: 'still_running',
    meaning: '`--exit-status` of an unfinished run',
    advice: 'Ask again later, or wait with `runctl watch`.',
  },
  {
    code: 70,
    name: 'internal_error',
    meaning: 'a fault of runctl',
    advice: 'Please report it with the message and the version. If a trigger was cut short, run `runctl recover`.',
  },
  {
    code: 74,
    name: 'output_error',
    meaning: 'the answer could not be written (full disk)',
    advice: 'Make room, then ask again: `runctl list` has the runs that were started.',
  },
  {
    code: 124,
    name: 'timeout',
    meaning: '`--timeout` passed; the run was left alone',
    advice: 'The run was left alone. `runctl watch` watches it again.',
  },
  {
    code: 129,
    name: 'interrupted_hangup',
    meaning: 'interrupted by SIGHUP; the run was left alone',
    advice:
      'The run was left alone. `runctl watch` watches it again. If a trigger was interrupted, run `runctl recover`.',
  },
  {
    code: 130,
    name: 'interrupted',
    meaning: 'interrupted by Ctrl-C; the run was left alone',
    advice:
      'The run was left alone. `runctl watch` watches it again. If a trigger was interrupted, run `runctl recover`.',
  },
  {
    code: 141,
    name: 'pipe_closed',
    meaning: 'the reader of the output left while runs were unfinished; they were left alone',
    advice: 'Nothing to do if that was meant. `runctl watch --all` watches the runs again.',
  },
  {
    code: 143,
    name: 'interrupted_terminated',
    meaning: 'interrupted by SIGTERM; the run was left alone',
    advice:
      'The run was left alone. `runctl watch` watches it again. If a trigger was interrupted, run `runctl recover`.',
  },
] as const satisfies readonly ExitCode[];

export type ExitName = (typeof table)[number]['name'];

export const signalExits = {
  SIGHUP: 'interrupted_hangup',
  SIGINT: 'interrupted',
  SIGTERM: 'interrupted_terminated',
} as const satisfies Record<string, ExitName>;

const isSignalName = (name: ExitName): boolean => Object.values<ExitName>(signalExits).includes(name);

/** By the user, or because nobody reads the output any more. */
export const isInterruptName = (name: ExitName): boolean => isSignalName(name) || name === 'pipe_closed';

/** The name that users see: the three signals share `interrupted`, and differ by their codes. */
export const publicNameOf = (name: ExitName): string => (isSignalName(name) ? 'interrupted' : name);

export const exitCodes: readonly ExitCode[] = table.map((row) => ({ ...row, name: publicNameOf(row.name) }));

const codes = Object.fromEntries(table.map(({ name, code }) => [name, code])) as Record<ExitName, number>;

export function signalOfExitCode(exitCode: number): string | undefined {
  return Object.entries(signalExits).find(([, name]) => codes[name] === exitCode)?.[0];
}

/** A signal wins, then an unknown trigger, then the first that is not ok; a reader that left replaces ok and timeout. */
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

export const exitCodeOf = (name: ExitName): number => codes[name];

/** The exit code of a command whose output was lost, on a full disk, say: it takes the place of those that say less. */
export function exitCodeAfterLoss(exitCode: number): number {
  const replaced = [codes.ok, codes.timeout, codes.pipe_closed];
  return replaced.includes(exitCode) ? codes.output_error : exitCode;
}

const endings: Record<FinalStatus, ExitName> = {
  COMPLETED: 'ok',
  FAILED: 'run_failed',
  TIMED_OUT: 'run_timed_out',
  CANCELLED: 'run_cancelled',
};

/** How a run stands: 16 while it is unfinished. */
export function exitNameOfRun({ target }: Run, status: string): ExitName {
  return isFinal(target, status) ? exitNameOfStatus(status) : 'still_running';
}

/** How a program that watched a run to this final status ends; one that is not documented is no success. */
export function exitNameOfStatus(status: string): ExitName {
  const known = finalStatusOf(status);
  return known ? endings[known] : 'run_failed';
}
