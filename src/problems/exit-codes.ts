import { endings, finalStatusOf } from '../runs/statuses.ts';

/** An exit code. `explain`, the reference and the man page are generated from the table below. */
export interface ExitCode {
  code: number;
  name: string;
  meaning: string;
  advice: string;
}

const resumeAdvice = 'Resume with `runctl watch`. If a trigger was interrupted, run `runctl recover`.';

/** What else follows from a code, for documents and recipes. */
interface Consequences {
  startsNoRun?: true; // after `trigger`: this command started no run of that automation
  isFinal?: true; // trying again helps nobody: the run ended badly, someone has to fix something, or `runctl recover` is due
}

/** Each name with its code, its meaning in one clause, what to do about it, and what else follows. */
const table = {
  ok: [0, 'success (`watch`: every run COMPLETED)', 'Nothing to do.'],
  run_failed: [
    1,
    'the run finished FAILED',
    'Read the error and the output with `runctl result`, fix the cause, then trigger the automation again.',
    { isFinal: true },
  ],
  usage: [
    2,
    'wrong arguments or settings; nothing was sent',
    'The message names the argument or setting. `runctl <command> --help` shows what is accepted.',
    { startsNoRun: true, isFinal: true },
  ],
  run_timed_out: [
    3,
    'the run finished TIMED_OUT',
    'The service stops a run after 3 hours. Make the Automation do less in one run, then trigger it again.',
    { isFinal: true },
  ],
  run_cancelled: [
    4,
    'the run finished CANCELLED',
    "The run was cancelled. Trigger it again if that wasn't intended.",
    { isFinal: true },
  ],
  already_active: [
    5,
    'the automation is already running (with `--if-active wait`: still running when `--timeout` expired)',
    'An Automation can have one active run. Choose what to do about it with `--if-active wait` or `skip`. `runctl help troubleshooting` has more.',
    { startsNoRun: true },
  ],
  not_found: [
    6,
    'no such automation or run',
    'Check the id, the project and the automation name. `runctl list` shows the runs recorded on this machine.',
    { startsNoRun: true, isFinal: true },
  ],
  unauthorized: [
    7,
    'the API key was refused (401, 403)',
    '`runctl config list` shows where the API key comes from. `runctl config set apiKey` stores another one. If the message names a page, something in front of the service responded, and the API key may be fine. `runctl help troubleshooting` has more.',
    { startsNoRun: true, isFinal: true },
  ],
  no_credits: [
    8,
    'the AI credit balance is 0 (402)',
    'Top up the balance, then trigger again.',
    { startsNoRun: true, isFinal: true },
  ],
  rate_limited: [
    9,
    'still rate limited (429) after all retries',
    'Try again when the message says, or keep trying longer with `--give-up-after`.',
    { startsNoRun: true },
  ],
  unavailable: [
    10,
    'no valid response after all retries, or a failure that no retry can fix (certificate, proxy)',
    'Run `runctl doctor` to find the cause. A run that was being watched continues: resume with `runctl watch`. `runctl help troubleshooting` has more.',
    { startsNoRun: true },
  ],
  rejected: [
    11,
    'the service refused the request for another reason',
    'Read the message. `--json` prints it as data, and `--debug` prints the request and the response.',
    { startsNoRun: true, isFinal: true },
  ],
  outcome_unknown: [
    12,
    'the response to a trigger was lost; a run may have been started',
    "Don't repeat the command. Run `runctl recover`: it sends the same trigger with the same idempotency key, which finds the run if the service honors idempotency keys, or starts it if the request never arrived. If the message names an active run, that may be yours: `runctl watch` follows it, and when it has finished, `runctl recover --resend` finds yours or starts it. `runctl help troubleshooting` has more.",
    { isFinal: true },
  ],
  result_unavailable: [
    13,
    "a watched run COMPLETED, but its result couldn't be read",
    'Try `runctl result` again later.',
  ],
  watch_failed: [
    14,
    "`trigger --watch` started a run but couldn't follow it; the run continues",
    'The message says why and names the run. Resume with `runctl watch`.',
  ],
  still_running: [
    16,
    'the run has not finished yet (`--exit-status`)',
    'Ask again later, or wait for it with `runctl watch`.',
  ],
  internal_error: [
    70,
    'a bug in runctl',
    'Please report it, with the message and the version. If a trigger was cut short, run `runctl recover`.',
  ],
  output_error: [
    74,
    "the output couldn't be written (disk full)",
    'Free some space, then ask again. `runctl list` shows the runs that were started. `runctl help troubleshooting` has more.',
  ],
  timeout: [124, '`--timeout` expired; the run continues', 'Resume with `runctl watch`.'],
  interrupted_hangup: [129, 'interrupted by SIGHUP; the run continues', resumeAdvice],
  interrupted: [130, 'interrupted by Ctrl-C; the run continues', resumeAdvice],
  pipe_closed: [
    141,
    'the output pipe was closed before the runs finished; the runs continue',
    'Nothing to do if that was intended. Resume with `runctl watch --all`.',
  ],
  interrupted_terminated: [143, 'interrupted by SIGTERM; the run continues', resumeAdvice],
} as const satisfies Record<string, readonly [code: number, meaning: string, advice: string, Consequences?]>;

export type ExitName = keyof typeof table;
const names = Object.keys(table) as ExitName[];

export const signalExits = {
  SIGHUP: 'interrupted_hangup',
  SIGINT: 'interrupted',
  SIGTERM: 'interrupted_terminated',
} as const satisfies Record<string, ExitName>;

/** The exit name for the signal that is the reason of an abort; `SIGPIPE` if the reader of stdout has left. */
export const interruptNameOf = ({ reason }: { reason: unknown }): ExitName =>
  reason === 'SIGPIPE' ? 'pipe_closed' : (signalExits[reason as keyof typeof signalExits] ?? 'interrupted');

const isSignalName = (name: ExitName): boolean => Object.values<ExitName>(signalExits).includes(name);

/** Was the command ended by the user, or because its output pipe was closed? */
export const isInterruptName = (name: ExitName): boolean => isSignalName(name) || name === 'pipe_closed';

/** The name that users see: the three signals share `interrupted`, and differ by their codes. */
export const publicNameOf = (name: ExitName): string => (isSignalName(name) ? 'interrupted' : name);

const codesWith = (consequence: keyof Consequences): readonly number[] =>
  names.flatMap((name) => {
    const [code, , , consequences = {}]: readonly [number, string, string, Consequences?] = table[name];
    return consequences[consequence] ? code : [];
  });
export const codesWithoutRun = codesWith('startsNoRun');
export const finalCodes = codesWith('isFinal');

export const exitCodes: readonly ExitCode[] = names.map((name) => {
  const [code, meaning, advice] = table[name];
  return { code, name: publicNameOf(name), meaning, advice };
});

/** A signal wins, then a trigger in doubt, then the first name other than ok. `pipe_closed` replaces ok and timeout. */
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

/** The exit code if the output was lost, or if the output pipe was closed before the runs finished. */
export function exitCodeWithOutput(exitCode: number, { lost, isClosed }: { lost?: Error; isClosed: boolean }): number {
  const replaced = (['ok', 'timeout', 'pipe_closed'] as const).map(exitCodeOf);
  if (lost && replaced.includes(exitCode)) return exitCodeOf('output_error');
  return isClosed && exitCode === exitCodeOf('timeout') ? exitCodeOf('pipe_closed') : exitCode;
}

/** The exit name for a run with this status: `still_running` while it is unfinished. */
export function exitNameOfRun({ status, isFinal }: { status: string; isFinal: boolean }): ExitName {
  return isFinal ? exitNameOfStatus(status) : 'still_running';
}

/** The exit name for a run with this final status. An undocumented status isn't a success. */
export function exitNameOfStatus(status: string): ExitName {
  const known = finalStatusOf(status);
  return known ? endings[known].exit : 'run_failed';
}
