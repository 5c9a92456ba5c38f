import type { Outcome } from '../run/outcome.ts';
import type { Words } from '../run/problem.ts';
import { wordsOfDoubt } from './of-doubt.ts';
import { wordsOfRefusal } from './of-trigger.ts';
import { wordsOfEnd, wordsOfUnread, wordsOfUnreadResult } from './of-watch.ts';
import type { Voice } from './voice.ts';

/** What people are told of an outcome. Undefined if nothing went wrong, or if the run's summary says it all. */
export function wordsOf(outcome: Outcome, voice: Voice): Words | undefined {
  return wordsOfKind(outcome, voice) ?? (outcome.interruptedBy && wordsOfSignal(outcome, voice));
}

/** A signal came when nothing else was left to say. */
function wordsOfSignal({ run }: Outcome, { argumentOf }: Voice): Words {
  return run
    ? { message: 'interrupted; the run continues', hint: `\`runctl watch ${argumentOf(run)}\`` }
    : { message: 'interrupted' };
}

function wordsOfKind(outcome: Outcome, voice: Voice): Words | undefined {
  switch (outcome.kind) {
    case 'refused':
      return wordsOfRefusal(outcome, voice);
    case 'in_doubt':
      return wordsOfDoubt(outcome);
    case 'known':
      return wordsOfUnreadResult(outcome, voice);
    case 'stopped':
      return wordsOfEnd(outcome, voice);
    case 'unread':
      return wordsOfUnread(outcome, voice);
    case 'forgotten':
      return { message: 'the service no longer knows this run' };
    case 'failed':
      return outcome.problem.facts;
    case 'shown':
    case 'skipped':
    case 'started':
    case 'report':
      return undefined;
  }
}
