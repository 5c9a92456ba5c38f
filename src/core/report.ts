import type { ExitName } from './exit-codes.ts';
import { type Failure, rowOf } from './failure.ts';
import type { Trigger } from './ports.ts';
import {
  type Automation,
  exitNameOfStatus,
  type JsonObject,
  type RunResult,
  type RunStatus,
} from './run.ts';

/** Whether this command started a run. */
export type Started = 'yes' | 'no' | 'unknown';

interface ReportFacts {
  automation: Automation;
  executionId?: string;
  /** Of `trigger` and `recover`. */
  trigger?: Omit<Trigger, 'automation'> & { started: Started };
  /** False: the command exits with 0 whatever came of the run (`list`, `status`). */
  decidesExitCode?: boolean;
  /** The last one that is known. */
  status?: RunStatus;
  /** Its status is that old: the journal has it, because the service couldn't be asked. */
  statusAgeMs?: number;
  /** When it was first sent or seen, by the journal, in milliseconds since 1970. */
  atMs?: number;
  /** The automation's name, as an argument, means this run. */
  isLastRun?: boolean;
}

/** The run is known, and so is its status if anybody asked for it. */
export interface RunReport extends ReportFacts {
  kind: 'run';
  executionId: string;
  /** The response to the trigger, as the service sent it. */
  document?: JsonObject;
  /** Absent if it wasn't asked for or couldn't be read. */
  result?: RunResult;
  /** Why the result couldn't be read. */
  resultFailure?: Failure;
  /** The error of a run that failed, by the journal: one line. */
  reason?: string;
  /** How long a run of this automation usually takes. */
  usualMs?: number;
}

/** The run was followed, but not to its end. It continues. */
export interface StoppedReport extends ReportFacts {
  kind: 'stopped';
  executionId: string;
  failure: Failure;
}

/** A trigger started no run. */
export interface NotStartedReport extends ReportFacts {
  kind: 'not_started';
  failure: Failure;
  /** By `--if-active skip`. */
  isSkipped?: boolean;
  /** An earlier trigger of the automation is unknown, so the active run may be its own. */
  isUnknownBefore?: boolean;
}

/** A trigger may have started a run. */
export interface UnknownReport extends ReportFacts {
  kind: 'unknown';
  /** Why nobody knows: what the first unknown attempt got. */
  failure: Failure;
  /** What the last attempt got. */
  last?: Failure;
  attempts?: number;
  tookMs?: number;
  /** False: the journal couldn't be written, so `recover` won't find it. */
  isRecorded?: boolean;
  /** Why it isn't sent again (one clause). */
  notSentBecause?: string;
  /**
   * What helps, if the next `recover` doesn't send it: to look in the service, and with `repeat`
   * also to type the trigger with its key.
   */
  remedy?: 'look' | 'repeat';
}

/** The run's status or result couldn't be read. */
export interface UnreadableReport extends ReportFacts {
  kind: 'unreadable';
  failure: Failure;
}

/** Everything that isn't about a run or a trigger. */
export interface DoneReport {
  kind: 'done';
  exit: ExitName;
  /** For stdout, without a line feed at its end. */
  text?: string;
  /** What `--json` prints beside `runctl`. */
  document: JsonObject;
  /** Of a command that failed: what happened, and the command to type. */
  error?: { message: string; command?: string };
}

/** How a command ended for one argument. */
export type Report =
  | RunReport
  | StoppedReport
  | NotStartedReport
  | UnknownReport
  | UnreadableReport
  | DoneReport;

export type RunOrTriggerReport = Exclude<Report, DoneReport>;

/** If status and result disagree, the one that isn't COMPLETED decides, else the status. */
export function decidingStatus({ status, result }: RunReport): RunStatus | undefined {
  if (!status || !result?.isFinal || status.status !== 'COMPLETED') return status;
  return { ...status, status: result.status };
}

/** How the run or trigger stands, as far as this command knows. In JSON, `outcome`. */
export function outcomeOf(report: Report): ExitName {
  switch (report.kind) {
    case 'done':
      return report.exit;
    case 'run': {
      const status = decidingStatus(report);
      if (!status) return 'ok';
      const exit = exitNameOfStatus(status);
      return exit === 'ok' && report.resultFailure ? 'result_unavailable' : exit;
    }
    case 'unknown':
      return 'outcome_unknown';
    case 'not_started':
      return report.isSkipped ? 'ok' : rowOf(report.failure).exit;
    case 'unreadable':
      return rowOf(report.failure).exit;
    case 'stopped': {
      const { exit } = rowOf(report.failure);
      const isOwn = exit === 'timeout' || exit === 'interrupted';
      return report.trigger && !isOwn ? 'watch_failed' : exit;
    }
  }
}

/** How the command exits, if this were its only report. */
export function exitNameOf(report: Report): ExitName {
  if (report.kind !== 'done' && report.decidesExitCode === false) return 'ok';
  const outcome = outcomeOf(report);
  switch (report.kind) {
    case 'unknown':
      return (report.last ?? report.failure).kind === 'interrupted' ? 'interrupted' : outcome;
    case 'run':
      return report.resultFailure?.kind === 'interrupted' ? 'interrupted' : outcome;
    default:
      return outcome;
  }
}

/** A wrong argument or setting, or a journal or file that can't be used. It ends the command. */
export class Problem extends Error {
  readonly exit: ExitName;
  /** The command to type, its arguments quoted for a shell; a runctl command gets its flags when printed. */
  readonly command: string | undefined;

  constructor(
    message: string,
    { exit = 'usage', command }: { exit?: ExitName; command?: string } = {},
  ) {
    super(message);
    this.exit = exit;
    this.command = command;
  }
}
