import type { Problem } from '../problems/problem.ts';
import { exitNameOfWatch } from '../problems/watch-problems.ts';
import type { DocumentFacts } from '../render/document.ts';
import { argumentOf } from '../session/known-run.ts';
import type { Session } from '../session/session.ts';
import type { WatchResult } from '../watching/watch-result.ts';
import { type TriggerOutcome, triggerFactsOf } from './trigger-outcome.ts';

/** The reason of the signal that ends the watches of other runs after one did not complete. */
export const failFastReason = '--fail-fast';

export interface Followed {
  watched: WatchResult;
  problem?: Problem;
  /** The service no longer knows the run, which has surely finished: `watch --all` asked for it, and nobody by name. */
  isForgotten?: boolean;
  trigger?: TriggerOutcome;
}

export function isLeft(watched: WatchResult): boolean {
  return watched.kind === 'interrupted' && watched.reason === failFastReason;
}

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
