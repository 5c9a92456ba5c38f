import { valueIfGiven } from '../config/setting-table.ts';
import type { JournalRun } from '../journal/journal.ts';
import { usageProblem } from '../problems/problem.ts';
import { quote } from '../problems/quote.ts';
import { nameOf, type Run } from '../runs/run.ts';
import { checkAutomationName, type RunArgument } from './arguments.ts';
import type { Session } from './session.ts';

/** A run, and when this machine triggered it, if it did. */
export interface KnownRun {
  run: Run;
  triggeredAtMs?: number;
}

export interface RunFlags {
  /** `--automation`: names the automation of a bare id that the journal does not know. */
  automation?: string;
}

/** The run that an argument names. Throws a usage problem when the journal does not know it. */
export function findRun(
  named: RunArgument,
  flags: RunFlags,
  { baseUrl, settings, journal }: Pick<Session, 'baseUrl' | 'settings' | 'journal'>,
): KnownRun {
  const find = (executionId: string) => {
    const spellings = [executionId, executionId.toLowerCase(), executionId.toUpperCase()];
    for (const spelling of new Set(spellings)) {
      const found = journal.find(spelling, { baseUrl });
      if (found) return found;
    }
    return undefined;
  };
  /** The id as the service wrote it, where that is on record: it may mind the case. */
  const known = (run: Run) => {
    const found = find(run.executionId);
    return knownRun(found, { ...run, executionId: found?.executionId ?? run.executionId });
  };
  if (named.kind === 'run') return known(named.run);
  if (named.kind === 'id') {
    const { executionId } = named;
    const project = flags.automation === undefined ? undefined : valueIfGiven(settings.project);
    if (flags.automation !== undefined && project !== undefined) {
      checkAutomationName(flags.automation);
      const target = { family: 'automation', projectId: project, automationName: flags.automation } as const;
      return known({ target, executionId });
    }
    const found = find(executionId);
    if (found) return known({ target: found.target, executionId: found.executionId ?? executionId });
    throw usageProblem(
      `the journal of this machine does not know run ${executionId}`,
      'name it in full as <projectId>/<automationName>/<executionId>, or add --project and --automation',
    );
  }
  const automation = named.automationName ?? flags.automation;
  const projectId = automation === undefined ? undefined : (named.projectId ?? valueIfGiven(settings.project));
  const last = journal.last({ baseUrl, automation, projectId });
  if (last?.executionId) return knownRun(last, { target: last.target, executionId: last.executionId });
  if (last) {
    throw usageProblem(
      `nobody knows yet whether the last trigger of ${nameOf(last.target)} started a run`,
      'settle it with `runctl recover`',
    );
  }
  throw usageProblem(
    automation === undefined
      ? 'this machine has not started or seen a run at this address yet'
      : `this machine knows no run of ${quote(automation)} in this project at this address`,
    'name the run in full as <projectId>/<automationName>/<executionId>, or start one with `runctl trigger`',
  );
}

/** The run, with the time of its trigger where it is on record. */
export function knownRun(record: JournalRun | undefined, run: Run): KnownRun {
  return { run, triggeredAtMs: record?.idempotencyKey ? Date.parse(record.at) : undefined };
}
