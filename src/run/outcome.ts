import type { JsonObject } from '../system/json.ts';
import type { Attribution } from './attribution.ts';
import type { UnresolvedTrigger } from './entry.ts';
import type { ExitName } from './exit-codes.ts';
import type { Fault } from './fault.ts';
import type { InDoubtDetails } from './in-doubt.ts';
import type { Problem } from './problem.ts';
import type { Run, Target } from './run.ts';
import type { RunResource, RunResult, RunSnapshot } from './service.ts';

/**
 * How a command ended for one of its arguments, as facts alone. Its exit name and its facts
 * (`run/exit-of.ts`) and its message (`messages/outcome-diagnostics.ts`) are each one function of
 * it.
 */
export type Outcome = OfTrigger | OfRun | OfCommand;

export type OutcomeOf<Kind extends Outcome['kind']> = Extract<Outcome, { kind: Kind }>;

/** The outcome of an argument that names an automation or a run. */
export type TargetOutcome = Outcome & ({ target: Target } | { run: Run });

/** The automation that an outcome is about. */
export function targetOf(outcome: TargetOutcome): Target;
export function targetOf(outcome: Outcome): Target | undefined;
export function targetOf({ run, target }: Outcome): Target | undefined {
  return run ? run.target : target;
}

interface Common {
  /** Only of commands that trigger. */
  triggerInfo?: TriggerInfo;
  /** The command only reports it, so it exits with 0 (`list`, `status`, `result`, `recover`). */
  isReportOnly?: true;
  /** The signal that ended the command before it was done with this argument. */
  interruptedBy?: ExitName;
  /** What a single command adds to `runctl` in its documents. */
  fields?: JsonObject;
}

/** The outcome of a trigger that has no run, or none whose id is known. */
type OfTrigger = Common & { target: Target; run?: undefined } & (
    | DryRun
    | Skipped
    | NoRun
    | InDoubt
  );

/** With `--dry-run`, nothing was sent. */
interface DryRun {
  kind: 'dry_run';
  triggerInfo: TriggerInfo;
}

/** With `--if-active skip`, none was started because a run was active. */
interface Skipped {
  kind: 'skipped';
  triggerInfo: TriggerInfo;
  activeExecutionId?: string;
}

/** The trigger started no run. */
interface NoRun {
  kind: 'no_run';
  triggerInfo: TriggerInfo;
  fault: Fault;
  /** The run because of which it was refused, if this command didn't wait for that run. */
  active?: ActiveRun;
  /** What ended the wait for it. */
  waitEnd?: ActiveRunWaitEnd;
  /** There is no connection, though the base URL has responded to this machine before. */
  isOutage?: boolean;
  /**
   * The idempotency key was refused like that before, so the service may only repeat its response.
   */
  isRepeatedRefusal?: boolean;
}

/** The trigger may have started a run. `list` sends none, so there it has no `triggerInfo`. */
interface InDoubt {
  kind: 'in_doubt';
  inDoubt: InDoubtDetails;
}

/** The outcome of a run whose id is known. */
type OfRun = Common & { run: Run; target?: undefined } & (
    | HasRun
    | StatusKnown
    | WatchEnded
    | RequestFailed
    | NotFound
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
  /** How old the status is, if it comes from the journal. */
  statusAgeMs?: number;
}

/** The watch ended before its run did. */
interface WatchEnded {
  kind: 'watch_ended';
  end: WatchEnd;
  lastConfirmed?: LastConfirmed;
  /** The run was unfinished and started with the API key that can't find it now. */
  startedWithThisApiKey?: boolean;
}

/** The status or the result of the run can't be read. */
interface RequestFailed {
  kind: 'request_failed';
  resource: RunResource;
  fault: Fault;
  lastConfirmed?: LastConfirmed;
  /** The run was unfinished and started with the API key that can't find it now. */
  startedWithThisApiKey?: boolean;
  /** There is no connection, though the base URL has responded to this machine before. */
  isOutage?: boolean;
}

/** `list` has the run, but the service no longer knows it. */
interface NotFound {
  kind: 'not_found';
  document: JsonObject;
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
  /** Whether the same command line can be repeated without a second run of this target. */
  isSafeToRepeat: boolean;
  /** The status with which the run had finished before this command. */
  endedAs?: string;
}

/** The outcome of a trigger that this command sent, or decided not to send. */
export type TriggerOutcome = TargetOutcome & { triggerInfo: TriggerInfo };

/** What `recover` found out about an unresolved trigger. */
export interface Recovery {
  trigger: UnresolvedTrigger;
  outcome: TriggerOutcome;
  /**
   * The age of the trigger before it was sent again. It is infinite if its record is dated in the
   * future.
   */
  ageMs: number;
  /** The error of its run, if that has finished without being COMPLETED. */
  error?: string;
}

/** The run because of which a trigger was refused. */
export interface ActiveRun {
  /** Undefined if neither the service nor the journal names it. */
  executionId?: string;
  /** When it began, if the service says that it is active. */
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
  /** That run couldn't be polled for too long. */
  | { kind: 'gave_up'; giveUpAfterMs: number }
  | { kind: 'interrupted' };

/** The last status that is known, and how old it is. */
export interface LastConfirmed {
  snapshot: RunSnapshot;
  ageMs: number;
}

/** Why a watch ended before its run did. */
export type WatchEnd =
  /** `fault` is why the last poll failed, if it did. */
  | (TimedOut & { fault?: Fault })
  | { kind: 'gave_up'; giveUpAfterMs: number; fault: Fault }
  /**
   * No further poll would succeed: the service has refused them for long enough, or this machine
   * can't send them.
   */
  | { kind: 'cannot_poll'; fault: Fault }
  /** `retryAfterUntilMs`: when the wait for `Retry-After` would have ended, by the wall clock. */
  | { kind: 'interrupted'; retryAfterUntilMs?: number };

/** A run that a command works with, and what is known of it before it is polled. */
export interface RunHandle {
  run: Run;
  /** The response to the trigger that started it, which takes the place of a first poll. */
  triggerResponse?: { snapshot: RunSnapshot; retryAfterMs?: number };
  /** The last status in the journal. */
  lastConfirmed?(): LastConfirmed;
  /** The time since it was triggered. Undefined if this machine didn't trigger it. */
  sinceTriggerMs?(): number;
}

/** The outcome of a command without runs. `fields` are what it adds to `runctl` in its document. */
export const infoOutcome = (fields: JsonObject): OutcomeOf<'info'> => ({ kind: 'info', fields });
