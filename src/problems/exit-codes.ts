import { type FinalStatus, finalStatusOf } from '../runs/run.ts';

/** What a process ends with. This table is the only one: `explain`, the README and the man page read it. */
export interface ExitCode {
  code: number;
  name: string;
  /** What the code says, in one clause. */
  meaning: string;
  /** Was a run started by this command? */
  started: string;
  /** May the same command be typed again? */
  repeat: string;
  /** What to do about it, in a sentence or two. */
  advice: string;
}

const table = [
  {
    code: 0,
    name: 'ok',
    meaning: 'done; every watched run COMPLETED',
    started: '–',
    repeat: '–',
    advice: 'Nothing to do.',
  },
  {
    code: 1,
    name: 'run_failed',
    meaning: 'the run ended FAILED',
    started: 'yes',
    repeat: 'yes, starts a new run',
    advice: 'Read the error and the output with `runctl result`, mend the cause, then trigger again.',
  },
  {
    code: 2,
    name: 'usage',
    meaning: 'bad arguments or settings; nothing was sent',
    started: 'no',
    repeat: 'after mending',
    advice: 'The message names the argument or setting. `runctl <command> --help` shows what it takes.',
  },
  {
    code: 3,
    name: 'run_timed_out',
    meaning: 'the run ended TIMED_OUT',
    started: 'yes',
    repeat: 'yes, starts a new run',
    advice: 'The service ends a run after 3 hours. Make the Automation do less in one run, then trigger again.',
  },
  {
    code: 4,
    name: 'run_cancelled',
    meaning: 'the run ended CANCELLED',
    started: 'yes',
    repeat: 'yes, starts a new run',
    advice: 'Somebody or something cancelled the run. Trigger again if that was not meant.',
  },
  {
    code: 5,
    name: 'already_active',
    meaning: 'the automation is already running; with `--if-active wait`: still, when `--timeout` passed',
    started: 'no',
    repeat: 'later',
    advice: 'An Automation has one active run at most. `--if-active wait`, `skip` or `attach` says what to do instead.',
  },
  {
    code: 6,
    name: 'not_found',
    meaning: 'no such run under that automation',
    started: 'no',
    repeat: 'no',
    advice: 'Check the id, the project and the automation name. `runctl list` shows the runs this machine knows.',
  },
  {
    code: 7,
    name: 'unauthorized',
    meaning: 'the key was refused (401, 403)',
    started: 'no',
    repeat: 'after mending',
    advice: 'Check which key is in force with `runctl config list`; set another with `runctl config set apiKey`.',
  },
  {
    code: 8,
    name: 'no_credits',
    meaning: 'the AI credit balance is 0 (402)',
    started: 'no',
    repeat: 'after topping up',
    advice: 'Top up the balance, then trigger again.',
  },
  {
    code: 9,
    name: 'rate_limited',
    meaning: '429 until the retries ended',
    started: 'no',
    repeat: 'later',
    advice: 'Come back when the message says, or wait longer with `--give-up-after`.',
  },
  {
    code: 10,
    name: 'unavailable',
    meaning: 'no valid answer until the retries ended, or at once where a retry cannot help (certificate, proxy)',
    started: 'no / still running',
    repeat: 'yes',
    advice:
      'Check the base address and the network. A run that was being watched goes on: `runctl watch` follows it again.',
  },
  {
    code: 11,
    name: 'bad_response',
    meaning:
      'the service answered something this version does not understand, or refused the request for another reason',
    started: 'see `problem.started`',
    repeat: 'see `problem`',
    advice: 'Read the message; `--json` shows it as data, `--debug` shows the exchange.',
  },
  {
    code: 12,
    name: 'outcome_unknown',
    meaning: 'a trigger may or may not have started a run; the key is in the message and the journal',
    started: 'unknown',
    repeat: 'only with `runctl recover`',
    advice: 'Run `runctl recover`: it asks again with the same key, which cannot start a second run.',
  },
  {
    code: 13,
    name: 'result_unavailable',
    meaning: 'a watched run COMPLETED, its result could not be read',
    started: 'yes',
    repeat: '`runctl result`',
    advice: 'Ask for the result again later with `runctl result`.',
  },
  {
    code: 14,
    name: 'watch_failed',
    meaning: '`trigger --watch` has a run, but could not follow it; the run was left alone',
    started: 'see `problem.started`',
    repeat: '`runctl watch`',
    advice: 'The message says why, and names the run. `runctl watch` follows it again.',
  },
  {
    code: 15,
    name: 'overdue',
    meaning: '`check`: no run completed within the time',
    started: 'no',
    repeat: 'yes',
    advice: 'Read what became of the last runs with `runctl list`, and trigger one if that is still useful.',
  },
  {
    code: 16,
    name: 'still_running',
    meaning: '`--exit-status` of an unfinished run',
    started: 'no',
    repeat: 'yes',
    advice: 'Ask again later, or wait for the end of the run with `runctl watch`.',
  },
  {
    code: 70,
    name: 'bug',
    meaning: 'a fault of runctl itself',
    started: 'see `problem.started`',
    repeat: '–',
    advice: 'Please report it with the message and the version. A trigger cut short is settled by `runctl recover`.',
  },
  {
    code: 124,
    name: 'watch_timeout',
    meaning: '`--timeout` passed; the run was left alone',
    started: 'yes',
    repeat: '`runctl watch`',
    advice: 'The run was left alone. `runctl watch` follows it again.',
  },
  {
    code: 129,
    name: 'interrupted_hangup',
    meaning: 'interrupted by SIGHUP; the run was left alone',
    started: 'yes',
    repeat: '`runctl watch`',
    advice: 'The run was left alone. `runctl watch` follows it again; after a cut trigger, `runctl recover`.',
  },
  {
    code: 130,
    name: 'interrupted',
    meaning: 'interrupted by Ctrl-C; the run was left alone',
    started: 'yes',
    repeat: '`runctl watch`',
    advice: 'The run was left alone. `runctl watch` follows it again; after a cut trigger, `runctl recover`.',
  },
  {
    code: 143,
    name: 'interrupted_terminated',
    meaning: 'interrupted by SIGTERM; the run was left alone',
    started: 'yes',
    repeat: '`runctl watch`',
    advice: 'The run was left alone. `runctl watch` follows it again; after a cut trigger, `runctl recover`.',
  },
] as const satisfies readonly ExitCode[];

export type ExitName = (typeof table)[number]['name'];

/** How the user may end the program, and what it ends with then. */
export const signalExits = {
  SIGHUP: 'interrupted_hangup',
  SIGINT: 'interrupted',
  SIGTERM: 'interrupted_terminated',
} as const satisfies Record<string, ExitName>;

export const isInterruptName = (name: ExitName): boolean => Object.values<ExitName>(signalExits).includes(name);

/** The name that users see: the three signals share `interrupted`, and their codes tell them apart. */
export const publicNameOf = (name: ExitName): string => (isInterruptName(name) ? 'interrupted' : name);

/** As they are shown. */
export const exitCodes: readonly ExitCode[] = table.map((row) => ({ ...row, name: publicNameOf(row.name) }));

const codes = Object.fromEntries(table.map(({ name, code }) => [name, code])) as Record<ExitName, number>;

/** The signal that a process with this exit code was ended by. */
export function signalOfExitCode(exitCode: number): string | undefined {
  return Object.entries(signalExits).find(([, name]) => codes[name] === exitCode)?.[0];
}

/** The exit code of several ends: a signal wins, then a trigger whose outcome is unknown, then the first that is not ok. */
export function exitCodeOfAll(names: readonly ExitName[]): number {
  const gravest = names.find(isInterruptName) ?? names.find((name) => name === 'outcome_unknown');
  return exitCodeOf(gravest ?? names.find((name) => name !== 'ok') ?? 'ok');
}

/** The number of a named exit. */
export const exitCodeOf = (name: ExitName): number => codes[name];

const endings: Record<FinalStatus, ExitName> = {
  COMPLETED: 'ok',
  FAILED: 'run_failed',
  TIMED_OUT: 'run_timed_out',
  CANCELLED: 'run_cancelled',
};

/** How a program that watched a run to this final status ends; one that is not documented is no success. */
export function exitNameOfStatus(status: string): ExitName {
  const known = finalStatusOf(status);
  return known ? endings[known] : 'run_failed';
}
