import type { Problem } from '../problems/problem.ts';
import { exitNameOfWatch } from '../problems/watch-problems.ts';
import type { DocumentFacts } from '../render/document.ts';
import { argumentOf } from '../session/known-run.ts';
import type { Session } from '../session/session.ts';
import type { WatchResult } from '../watching/watch-result.ts';
import { type TriggerOutcome, triggerFactsOf } from './trigger-outcome.ts';

/** The reason of the signal that ends the watches of other runs after one did not complete. */
export const failFastReason = '--fail-fast';

/** How a run was followed: `problem` where the watch ended with one. */
export interface Followed {
  watched: WatchResult;
  problem?: Problem;
  /** The service no longer knows the run, which has surely finished: `watch --all` asked for it, and nobody by name. */
  isForgotten?: boolean;
  /** Where this command has triggered it. */
  trigger?: TriggerOutcome;
}

/** Was the run left by `--fail-fast`? */
export function isLeft(watched: WatchResult): boolean {
  return watched.kind === 'interrupted' && watched.reason === failFastReason;
}

/** What the document of a run that was followed says. A run that was left is not judged. */
export function factsOfFollowed({ watched, problem, trigger, isForgotten }: Followed, session: Session): DocumentFacts {
  const left = isLeft(watched);
  return {
    ...watched,
    problem,
    outcome: left ? 'still_running' : exitNameOfWatch(watched, problem),
    exitName: left || isForgotten ? 'ok' : undefined,
    trigger: trigger && triggerFactsOf(trigger, session),
    argument: argumentOf(watched.run, session),
    lastConfirmed: watched.kind === 'finished' ? undefined : watched,
  };
}
