import type { JsonObject } from '../system/json.ts';
import type { Attribution } from './attribution.ts';
import type { UnresolvedTrigger } from './entry.ts';
import type { ExitName } from './exit-codes.ts';
import type { Fault } from './fault.ts';
import type { Problem } from './problem.ts';
import type { Run, Target } from './run.ts';
import type { RunResource, RunResult, RunSnapshot } from './service.ts';
import type { IfActive } from './trigger.ts';

/**
 * What became of one argument of a command, as facts alone. The exit code (`run/exit-of.ts`), the
 * messages (`messages/of-outcome.ts`), the document and the summary are each one function of it.
 */
export type Outcome = OfTrigger | OfRun | OfCommand;

export type OutcomeOf<Kind extends Outcome['kind']> = Extract<Outcome, { kind: Kind }>;

/** The outcome of an argument that names an automation or a run. */
export type TargetOutcome = Outcome & ({ target: Target } | { run: Run });

/** The automation that an outcome is about: that of its run, if it has one. */
export function targetOf(outcome: TargetOutcome): Target;
export function targetOf(outcome: Outcome): Target | undefined;
export function targetOf({ run, target }: Outcome): Target | undefined {
  return run ? run.target : target;
}

interface Common {
  /** In commands that trigger. */
  triggerInfo?: TriggerInfo;
  /** The command only reports it, so it exits with 0 (`list`, `status`, `result`, `recover`) */
  exitsZero?: true;
  /** The signal that ended the command before this was done. */
  interruptedBy?: ExitName;
  /** What one command adds to `runctl` in its documents. */
  fields?: JsonObject;
}

/** The outcome of a trigger that has no run, or none whose id is known. */
type OfTrigger = Common & { target: Target; run?: undefined } & (
    | { kind: 'dry_run'; triggerInfo: TriggerInfo } // `--dry-run`: nothing was sent
    | { kind: 'skipped'; triggerInfo: TriggerInfo; activeExecutionId?: string } // `--if-active skip`: a run was active
    | NoRun
    | { kind: 'in_doubt'; inDoubt: InDoubtDetails } // `list` shows it without a `triggerInfo`, as it sends nothing
  );

/** The trigger started no run. */
interface NoRun {
  kind: 'no_run';
  triggerInfo: TriggerInfo;
  fault: Fault;
  /** The run because of which it was refused, if this command didn't wait for that run. */
  active?: ActiveRun;
  /** What ended the wait for it. */
  waitEnd?: ActiveRunWaitEnd;
  /** The base URL has answered here before. */
  isOutage?: boolean;
  /**
   * The idempotency key was refused like that before, so the service may only repeat its response.
   */
  isRepeatedRefusal?: boolean;
}

/** The outcome of a run whose id is known. */
type OfRun = Common & { run: Run; target?: undefined } & (
    | HasRun
    | StatusKnown
    // The watch ended before the run did.
    | { kind: 'watch_ended'; end: WatchEnd; lastConfirmed?: LastConfirmed; isOwnRun?: boolean }
    | {
        kind: 'request_failed';
        resource: RunResource;
        fault: Fault;
        lastConfirmed?: LastConfirmed;
        isOwnRun?: boolean;
        isOutage?: boolean;
      }
    | { kind: 'not_found'; document: JsonObject } // a list has it, but the service no longer knows it
  );

/** A trigger has a run, and this command doesn't watch it. */
interface HasRun {
  kind: 'has_run';
  triggerInfo: TriggerInfo;
  snapshot?: RunSnapshot;
  /** Why its status can't be read now. */
  requestFault?: Fault;
  /** The last status in the journal, if the current one can't be read. */
  lastConfirmed?: LastConfirmed;
}

interface StatusKnown {
  kind: 'status';
  snapshot: RunSnapshot;
  result?: RunResult;
  /** Why there is no result. */
  requestFault?: Fault;
  /** How old the status is, if this command didn't read it from the service. */
  statusAgeMs?: number;
}

/**
 * The outcome of a command that has no arguments with outcomes of their own, or that failed before
 * it knew them.
 */
type OfCommand = Common &
  ({ run: Run; target?: undefined } | { target?: Target; run?: undefined }) &
  (
    | { kind: 'info'; document?: JsonObject } // `document`: what the service sent of an Agent
    | { kind: 'problem'; problem: Problem }
  );

/** What the JSON document says under `trigger`. */
export interface TriggerInfo {
  /** What shows whether this command started a run. */
  attribution: Attribution;
  /** Null before there was one. */
  idempotencyKey: string | null;
  /** May the same command line be repeated without a second run of this target? */
  isSafeToRepeat: boolean;
  /** The status in which the run had finished before. */
  endedAs?: string;
}

/** What became of a trigger that this command sent, or decided not to send. */
export type TriggerOutcome = TargetOutcome & { triggerInfo: TriggerInfo };

/** What `recover` found out about an unresolved trigger. */
export interface Recovery {
  trigger: UnresolvedTrigger;
  outcome: TriggerOutcome;
  /** Of the trigger, before it was sent again; infinite if its record is dated in the future. */
  ageMs: number;
  /** Of its run, if that has finished without being COMPLETED. */
  error?: string;
}

/** Why it isn't known whether a trigger started a run, and what the journal has of it. */
export interface InDoubtDetails {
  reason: InDoubtReason;
  /**
   * When it was first sent (ISO 8601), and its age, which is infinite if the record is dated in the
   * future. Undefined if the journal doesn't have it.
   */
  recorded?: { at: string; ageMs: number };
  conflict?: Conflict;
  /** What the trigger was to do if another run was active. */
  ifActive?: IfActive;
  /** The service ignores idempotency keys. */
  ignoresKeys: boolean;
}

/** A repeat was refused because a run was active, perhaps its own. */
export interface Conflict {
  activeExecutionId?: string;
  /** The journal has that run as another key's. */
  isOthers: boolean;
}

export type InDoubtReason =
  | { kind: 'no_response'; fault: Fault } // why the last attempt got no run
  | { kind: 'signal' } // the user left before there was a valid response
  | { kind: 'expired' } // the service may have forgotten the key
  | { kind: 'other_api_key' } // the service has keys by API key, so with this one the key would be a new one
  | { kind: 'withheld' } // a second run, or a late one, could start: `recover --resend`
  | { kind: 'sending'; process: string } // another process is sending it
  | { kind: 'superseded' } // a later trigger has a run
  | { kind: 'listed'; isRecoverable: boolean }; // the journal says so, and nothing was sent

/** The run because of which a trigger was refused. */
export interface ActiveRun {
  /** Undefined if nobody knows which one it is. */
  executionId?: string;
  /** When it began, if it is known to be active. */
  since?: string;
  /** An earlier trigger, whose response was lost, may have started it. */
  mayBeLost?: boolean;
}

/** `--timeout` has expired. The last poll may have taken longer. */
export interface TimedOut {
  kind: 'timed_out';
  timeoutMs: number;
  /** Since the command began. */
  passedMs: number;
}

/** What ended the wait for another run of the automation to finish. */
export type ActiveRunWaitEnd =
  | TimedOut
  | { kind: 'gave_up'; giveUpAfterMs: number } // that run couldn't be polled for too long
  | { kind: 'signal' };

/** The last status that is known, and how old it is. */
export interface LastConfirmed {
  snapshot: RunSnapshot;
  ageMs: number;
}

/** Why a watch ended before its run did. */
export type WatchEnd =
  | (TimedOut & { fault?: Fault }) // `fault`: the last failure, if there was one
  | { kind: 'gave_up'; giveUpAfterMs: number; fault: Fault }
  | { kind: 'polls_refused'; fault: Fault } // the service refused the polls for long enough, or at once
  | { kind: 'signal'; askedUntilMs?: number }; // until when it waited because of a `Retry-After`, by the wall clock

/** A run that a command has, with what is known of it before it is polled. */
export interface RunHandle {
  run: Run;
  /** The response to the trigger that started it, which takes the place of a first poll. */
  triggerResponse?: { snapshot: RunSnapshot; retryAfterMs?: number };
  /** What the journal has. */
  lastConfirmed?(): LastConfirmed;
  /** Undefined if this machine didn't trigger it. */
  sinceTriggerMs?(): number;
}

/** The outcome of a command without runs. `fields` are what it adds to `runctl` in its document. */
export const infoOutcome = (fields: JsonObject): OutcomeOf<'info'> => ({ kind: 'info', fields });
