import type { Connection } from '../connection/connection.ts';
import { argumentOf } from '../connection/followable.ts';
import { shownProcess } from '../journal/processes.ts';
import type { Outcome } from '../problems/outcome.ts';
import { refusedTriggerProblem } from '../problems/trigger-problems.ts';
import { lookFor, triggerAt } from '../problems/unknown-outcome.ts';
import type { allResolutions } from '../run/events.ts';
import { exitNameOfRun } from '../run/exit-codes.ts';
import { reasonOf } from '../run/fault.ts';
import { defaults } from '../run/limits.ts';
import { inDoubtProblem, type Problem } from '../run/problem.ts';
import type { Run } from '../run/run.ts';
import { localTime } from '../system/time-text.ts';
import { starts } from '../triggering/start-evidence.ts';
import type { RecoverFlags, Recovery } from './recover-triggers.ts';
import { unknownTriggerOf } from './unknown-trigger.ts';

/** How a trigger was resolved, for people and for programs. */
export interface RecoveryReport {
  sentence: string;
  run?: Run;
  problem?: Problem; // if the trigger stays unresolved
  outcome: Outcome;
}

/** A run that was found doesn't change the exit code, whatever its status. */
export function reportOfRecovery(recovery: Recovery, flags: RecoverFlags, connection: Connection): RecoveryReport {
  const { dryRun, resend } = flags;
  const { target, idempotencyKey, at, reason } = recovery.trigger;
  const trigger = unknownTriggerOf(recovery.trigger, connection);
  const about = triggerAt(trigger);
  const { atMs } = trigger.recorded ?? {};
  const limitMs = resend ? defaults.keyRetentionMs : defaults.recoverMaxAgeMs;
  const untilMs = recovery.kind === 'unresolved' && atMs !== undefined ? atMs + limitMs : undefined;
  const until = untilMs === undefined ? {} : { until: new Date(untilMs).toISOString() };
  const resolution: (typeof allResolutions)[number] = recovery.kind;
  const report = { recover: { at, resolution, reason: reason ?? null, ...until } };
  const safeToRepeat = !resend;
  const withoutRun = (sentence: string, problem?: Problem): RecoveryReport => {
    const start = { ...starts.in_doubt, idempotencyKey };
    const exit = dryRun ? 'ok' : undefined;
    return { sentence, problem, outcome: { target, problem, exit, report, start, safeToRepeat } };
  };
  switch (recovery.kind) {
    case 'found': {
      const { execution, evidence } = recovery;
      const { executionId, status } = execution;
      const run = { target, executionId };
      // A service may repeat its first response, in which the run is RUNNING.
      const end = execution.isFinal ? `, which finished ${status}` : '';
      const { how, started } = starts[evidence];
      const found = started === 'no' ? 'had started run' : 'was sent again; its run is';
      const ended = execution.isFinal ? exitNameOfRun(execution) : 'ok';
      const start = { how, started, idempotencyKey };
      const argument = argumentOf(run, connection);
      const next = execution.isFinal ? '' : `; watch it with \`runctl watch ${argument}\``;
      return {
        sentence: `${about} ${found} ${executionId}${end}${next}`,
        run,
        outcome: { run, execution, ended, exit: 'ok', argument, report, start, safeToRepeat },
      };
    }
    case 'refused': {
      const sentence = `${about} started no run: ${reasonOf(recovery.fault)}`;
      const problem = refusedTriggerProblem(recovery.fault, { target });
      const start = { ...starts.refused, idempotencyKey };
      return { sentence, outcome: { target, problem, exit: 'ok', report, start, safeToRepeat } };
    }
    case 'superseded':
      return withoutRun(`${about} isn't sent again, because a later one has a run; if it matters, ${lookFor(trigger)}`);
    case 'unresolved': {
      const why = reason ?? 'it has no recorded response';
      const during = untilMs === undefined ? '' : `, until ${localTime(untilMs)}`;
      return withoutRun(`${about} would be sent again${during} (${why})`);
    }
    case 'left': {
      const message = `${about} is still being sent by ${shownProcess(recovery.sender)}`;
      return withoutRun(message, inDoubtProblem({ message }));
    }
    case 'failed':
      return withoutRun(`${about} is unresolved: ${recovery.problem.message}`, recovery.problem);
    default:
      return withoutRun(recovery.problem.message, recovery.problem);
  }
}
