import { formatDuration } from '../runs/duration.ts';
import { httpOf } from '../runs/fault.ts';
import type { WatchResult } from '../watching/watch-result.ts';
import { remedies, retryAfterHint } from './fault-facts.ts';
import { askedWait, whyGivenUp } from './watch-problems.ts';

interface Ending {
  message: string;
  hint: string;
}

const againWithAll = 'watch them again: `runctl watch --all`';

/** What to say of several `runs` whose watches ended like this one; undefined if the end concerns one run alone. */
export function sharedEnding(watched: WatchResult, runs: string): Ending | undefined {
  const then = (first: string | undefined) => (first ? `${first}. Then ${againWithAll}` : againWithAll);
  switch (watched.kind) {
    case 'interrupted':
      return { message: `stopped watching ${runs}; the runs continue${askedWait(watched)}`, hint: againWithAll };
    case 'timed_out': {
      const limit = formatDuration(watched.timeoutMs);
      return { message: `stopped watching ${runs} after ${limit}; the runs continue`, hint: againWithAll };
    }
    case 'gave_up': {
      const { fault } = watched;
      const message = `${runs} couldn't be followed: ${whyGivenUp(watched)}; the runs may still be running${httpOf(fault)}`;
      return { message, hint: then(fault.hint ?? retryAfterHint(fault) ?? '`runctl doctor` finds the cause') };
    }
    case 'refused': {
      const { fault } = watched;
      if (fault.kind !== 'unauthorized') return undefined;
      const message = `${runs} couldn't be followed: ${fault.message}; the runs are not affected${httpOf(fault)}`;
      return { message, hint: then(fault.hint ?? retryAfterHint(fault) ?? remedies.unauthorized) };
    }
    case 'finished':
      return undefined;
  }
}
