import { commandFor } from '../hooks/on-final.ts';
import { isFinal, type Run } from '../runs/run.ts';
import type { Session } from '../session/session.ts';

/** A session that records hooks before they are run, so each runs at most once, even if the follower is killed. */
export function withRecordedHooks(session: Session, onFinal: string | undefined): Session {
  if (onFinal === undefined) return session;
  const { journal, hooks, baseUrl, reporter } = session;
  let isOurs: boolean | undefined;
  /** May the hook be run? This is recorded before the final status, after which no later follower would run it. */
  const begin = (run: Run): boolean => {
    if (isOurs !== undefined) return isOurs;
    const isNew = journal.hooks({ baseUrl, executionId: run.executionId }).length === 0;
    isOurs = isNew && journal.append({ type: 'hook_begun', baseUrl, ...run });
    if (isNew && !isOurs) {
      const message = `${commandFor(run)} is not run: the journal cannot be written`;
      reporter.observe({ event: 'warning', name: 'hook_failed', message, run });
    }
    return isOurs;
  };
  return {
    ...session,
    journal: {
      ...journal,
      recordStatus(url, run, execution) {
        if (isFinal(run.target, execution.status)) begin(run);
        journal.recordStatus(url, run, execution);
      },
    },
    hooks: {
      ...hooks,
      async start(run, document) {
        if (!begin(run)) return;
        await hooks.start(run, document);
        journal.append({ type: 'hook_ended', baseUrl, ...run });
      },
    },
  };
}

/** Warns of the hooks that an earlier follower began, but did not end. */
export function reportCutOffHooks({ journal, baseUrl, reporter }: Session): void {
  for (const { run, hasEnded } of journal.hooks({ baseUrl })) {
    if (hasEnded) continue;
    const message = `${commandFor(run)} was cut off when its follower ended; it is not run again`;
    reporter.observe({ event: 'warning', name: 'hook_cut_off', message, run });
    journal.append({ type: 'hook_ended', baseUrl, ...run });
  }
}
