/**
 * Whether the same `trigger` line can be repeated without a second run. `own key` means that it can
 * for 24 hours, if it has an `--idempotency-key`.
 */
type Repeat = 'yes' | 'own key' | 'no';

interface ExitRow {
  code: number;
  /** One clause. */
  meaning: string;
  advice: string;
  repeat: Repeat;
  /** After `trigger`: this command started no run of that automation. */
  startsNoRun?: true;
}

/** A sentence about repeating the command. Empty if no trigger exits with this code. */
export function repeatAdvice({ repeat, startsNoRun }: ExitRow): string {
  switch (repeat) {
    case 'yes':
      return startsNoRun
        ? 'If it names one automation, the same `trigger` line can be repeated: no run was started.'
        : '';
    case 'own key':
      return 'The same `trigger` line starts no second run within 24h if it has an `--idempotency-key`, unless `idempotencyKeys` is `ignored`.';
    case 'no':
      return startsNoRun
        ? 'Running the line again fails until that is fixed.'
        : 'Running the line again starts another run.';
  }
}

const resumeAdvice =
  'Resume with `runctl watch @last`. If a trigger was interrupted, run `runctl recover`.';

/**
 * Every exit name with its exit code. `explain`, the documents, the man page and the recipes are
 * made from this table.
 */
const table = {
  ok: {
    code: 0,
    repeat: 'no',
    meaning: 'success (`watch`: every run COMPLETED)',
    advice: 'Nothing to do.',
  },
  run_failed: {
    code: 1,
    repeat: 'no',
    meaning: 'the run finished FAILED',
    advice:
      'Read the error and the output with `runctl result @last`, fix the cause, then trigger the automation again.',
  },
  usage: {
    code: 2,
    repeat: 'no',
    startsNoRun: true,
    meaning: 'wrong arguments or settings, so nothing was sent',
    advice:
      'The message names the argument or setting. `runctl <command> --help` shows what is accepted.',
  },
  run_timed_out: {
    code: 3,
    repeat: 'no',
    meaning: 'the run finished TIMED_OUT',
    advice:
      'The service stops a run after 3 hours. Make the Automation do less in one run, then trigger it again.',
  },
  run_cancelled: {
    code: 4,
    repeat: 'no',
    meaning: 'the run finished CANCELLED',
    advice: "The run was cancelled. Trigger it again if that wasn't intended.",
  },
  already_active: {
    code: 5,
    repeat: 'yes',
    startsNoRun: true,
    meaning:
      'the automation is already running (with `--if-active wait`: still running when `--timeout` expired)',
    advice:
      'An Automation can have one active run. Choose what to do about it with `--if-active wait` or `skip`. `runctl help troubleshooting` has more.',
  },
  not_found: {
    code: 6,
    repeat: 'no',
    startsNoRun: true,
    meaning: 'no such automation or run',
    advice:
      'Check the id, the project and the automation name. `runctl list` shows the runs recorded on this machine.',
  },
  unauthorized: {
    code: 7,
    repeat: 'no',
    startsNoRun: true,
    meaning: 'the API key was refused (401, 403)',
    advice:
      '`runctl config list` shows where the API key comes from. `runctl config set apiKey` stores another one. `runctl help troubleshooting` has more.',
  },
  no_credits: {
    code: 8,
    repeat: 'no',
    startsNoRun: true,
    meaning: 'the AI credit balance is 0 (402)',
    advice: 'Top up the balance, then trigger again.',
  },
  rate_limited: {
    code: 9,
    repeat: 'yes',
    startsNoRun: true,
    meaning: 'still rate limited (429) after all retries',
    advice: 'Try again when the message says, or keep trying longer with `--give-up-after`.',
  },
  unavailable: {
    code: 10,
    repeat: 'yes',
    startsNoRun: true,
    meaning:
      'no valid response after all retries, or a failure that no retry can fix (certificate, proxy)',
    advice:
      'Run `runctl doctor` to find the cause. A run that was being watched continues: resume with `runctl watch @last`. `runctl help troubleshooting` has more.',
  },
  rejected: {
    code: 11,
    repeat: 'no',
    startsNoRun: true,
    meaning: 'the service refused the request for another reason',
    advice:
      'Read the message. `--json` prints it as data, and `--debug` prints the request and the response.',
  },
  outcome_unknown: {
    code: 12,
    repeat: 'own key',
    meaning: 'the response to a trigger was lost, so a run may have been started',
    advice:
      "Don't repeat the command without an `--idempotency-key`. Run `runctl recover`: it sends the same trigger with the same idempotency key, which finds the run, or starts it if the request never arrived. If the message names an active run, that may be yours: `runctl watch <id>` follows it, and when it has finished, `runctl recover <automation> --resend` finds yours or starts it. `runctl help troubleshooting` has more.",
  },
  result_unavailable: {
    code: 13,
    repeat: 'own key',
    meaning: "a watched run COMPLETED, but its result couldn't be read",
    advice: 'Try `runctl result @last` again later.',
  },
  watch_failed: {
    code: 14,
    repeat: 'own key',
    meaning: "`trigger --watch` started a run but couldn't follow it, and the run continues",
    advice: 'The message says why and names the run. Resume with `runctl watch @last`.',
  },
  run_ended: {
    code: 15,
    repeat: 'no',
    meaning: "the run finished with a status that this version doesn't know",
    advice:
      'Read its output with `runctl result @last`. A newer version of runctl may know the status.',
  },
  still_running: {
    code: 16,
    repeat: 'yes',
    meaning: 'the run has not finished yet (`--exit-status`)',
    advice: 'Ask again later, or wait for it with `runctl watch @last`.',
  },
  internal_error: {
    code: 70,
    repeat: 'own key',
    meaning: 'a bug in runctl',
    advice:
      'Please report it, with the message and the version. If a trigger was cut short, run `runctl recover`.',
  },
  output_error: {
    code: 74,
    repeat: 'own key',
    meaning: "the output couldn't be written, or `recover` couldn't write the journal (disk full)",
    advice:
      'Free some space, then ask again. `runctl list` shows the runs that were started. `runctl help troubleshooting` has more.',
  },
  timeout: {
    code: 124,
    repeat: 'own key',
    meaning: '`--timeout` expired, and the run continues',
    advice: 'Resume with `runctl watch @last`.',
  },
  interrupted_hangup: {
    code: 129,
    repeat: 'own key',
    meaning: 'interrupted by SIGHUP, and the run continues',
    advice: resumeAdvice,
  },
  interrupted: {
    code: 130,
    repeat: 'own key',
    meaning: 'interrupted by Ctrl-C, and the run continues',
    advice: resumeAdvice,
  },
  pipe_closed: {
    code: 141,
    repeat: 'own key',
    meaning: 'the output pipe was closed before the runs finished, and they continue',
    advice: 'Nothing to do if that was intended. Resume with `runctl watch --all`.',
  },
  interrupted_terminated: {
    code: 143,
    repeat: 'own key',
    meaning: 'interrupted by SIGTERM, and the run continues',
    advice: resumeAdvice,
  },
} as const satisfies Record<string, ExitRow>;

export type ExitName = keyof typeof table;
const names = Object.keys(table) as ExitName[];

export const signalExits = {
  SIGHUP: 'interrupted_hangup',
  SIGINT: 'interrupted',
  SIGTERM: 'interrupted_terminated',
} as const satisfies Record<string, ExitName>;

/**
 * The exit name for the signal that aborted the command. The reason is `SIGPIPE` if the reader of
 * stdout has left.
 */
export const exitNameOfSignal = ({ reason }: { reason: unknown }): ExitName =>
  reason === 'SIGPIPE'
    ? 'pipe_closed'
    : (signalExits[reason as keyof typeof signalExits] ?? 'interrupted');

const isSignalName = (name: ExitName): boolean =>
  Object.values<ExitName>(signalExits).includes(name);

/** Whether the user ended the command, or the reader of its output did. */
export const isSignalExitName = (name: ExitName): boolean =>
  isSignalName(name) || name === 'pipe_closed';

/**
 * The name in documents. The three signals share the name `interrupted`, and their exit codes
 * differ.
 */
export const publicNameOf = (name: ExitName): string => (isSignalName(name) ? 'interrupted' : name);

/** A row of the table as `explain` prints it. */
export interface ExitCode extends ExitRow {
  /** Its name in documents. */
  outcome: string;
}

export const exitCodes: readonly ExitCode[] = names.map((name) => ({
  outcome: publicNameOf(name),
  ...table[name],
}));

/**
 * The exit code of a command with several outcomes. A signal comes first, then a trigger in doubt,
 * then the first name other than ok. A closed pipe replaces only ok and timeout.
 */
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

export const exitCodeOf = (name: ExitName): number => table[name].code;

/**
 * The exit code if the output was lost, or if the output pipe was closed before the runs finished.
 */
export function exitCodeWithOutput(
  exitCode: number,
  { lost, isClosed }: { lost?: Error; isClosed: boolean },
): number {
  const replaced = (['ok', 'timeout', 'pipe_closed'] as const).map(exitCodeOf);
  if (lost && replaced.includes(exitCode)) return exitCodeOf('output_error');
  // With `ok` the command was done, so a closed pipe changes nothing.
  return isClosed && exitCode === exitCodeOf('timeout') ? exitCodeOf('pipe_closed') : exitCode;
}
