import { pluralize } from '../run/quote.ts';
import { fullNameOf } from '../run/run.ts';
import { executionIdIn, type Reply } from './reply.ts';
import type { Route } from './request.ts';

interface ClientRun {
  /** A response that names it has reached the client. */
  isKnown: boolean;
  /** Its final result has reached the client. */
  isRead: boolean;
}

/** What a client asked for and what it was told. */
export function createSummary() {
  const runs = new Map<string, ClientRun>(); // by id
  const latest = new Map<string, ClientRun>(); // by the automation's full name
  let triggers = 0;
  let startedTwice = 0;

  function addRun(executionId: string, automation: string): void {
    const run = { isKnown: false, isRead: false };
    if (latest.get(automation)?.isKnown === false) startedTwice += 1;
    runs.set(executionId, run);
    latest.set(automation, run);
  }

  return {
    /** Records a request and its reply. Returns what to call once the whole reply was sent. */
    recordRequest(route: Route, reply: Reply): () => void {
      const executionId = executionIdIn(reply) ?? '';
      if (route.kind === 'trigger') {
        triggers += 1;
        if (executionId && !runs.has(executionId)) addRun(executionId, fullNameOf(route.target));
      }
      return () => {
        const run = runs.get(executionId);
        if (!run) return;
        run.isKnown = true;
        if (route.kind === 'result' && !reply.body.includes('"status":"RUNNING"'))
          run.isRead = true;
      };
    },

    /** One line about everything so far. `finished` are the ids of the runs that have finished. */
    line(finished: readonly string[]): string {
      const unread = finished.filter((executionId) => runs.get(executionId)?.isRead === false);
      const facts = [
        pluralize(triggers, 'trigger'),
        pluralize(runs.size, 'run'),
        `${pluralize(startedTwice, 'run')} started twice`,
        `${pluralize(unread.length, 'result')} not read`,
      ];
      return `emulator: ${facts.join(', ')}`;
    },
  };
}
