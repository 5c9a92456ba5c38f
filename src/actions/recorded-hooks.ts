import { commandFor } from '../hooks/on-final.ts';
import { isFinal, type Run } from '../runs/run.ts';
import type { Session } from '../session/session.ts';

/** A follower's session: hooks are recorded before they are run, so once at most, also where it is killed. */
export function withRecordedHooks(session: Session, onFinal: string | undefined): Session {
  if (onFinal === undefined) return session;
  const { journal, hooks, baseUrl, reporter } = session;
  let isOurs: boolean | undefined;
  /** May it be run? Before the final status is on record: else a follower that is killed between would never run it. */
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

export function reportCutOffHooks({ journal, baseUrl, reporter }: Session): void {
  for (const { run, hasEnded } of journal.hooks({ baseUrl })) {
    if (hasEnded) continue;
    const message = `${commandFor(run)} was cut off when its follower ended; it is not run again`;
    reporter.observe({ event: 'warning', name: 'hook_cut_off', message, run });
    journal.append({ type: 'hook_ended', baseUrl, ...run });
  }
}
