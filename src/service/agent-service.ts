import type { DatedAnswer, Execution, StartedExecution } from '../run/service.ts';
import { createAsk, type HttpOptions, type Question } from './call.ts';
import { ofRun, readExecution, readStarted } from './read-document.ts';

/** The discontinued Agent endpoints. Each call is one request; the ids are UUIDs. */
export function createAgentService(options: HttpOptions) {
  const ask = createAsk(options);
  const pathOf = (agentId: string) => `/v0/agent/${agentId}`;
  return {
    trigger(
      agentId: string,
      send: NonNullable<Question<unknown>['send']>,
      signal: AbortSignal,
    ): Promise<DatedAnswer<StartedExecution>> {
      const target = pathOf(agentId);
      return ask({ operation: 'trigger', target, path: `${target}/trigger`, send, read: readStarted }, signal);
    },
    status(
      { agentId, executionId }: { agentId: string; executionId: string },
      signal: AbortSignal,
    ): Promise<DatedAnswer<Execution>> {
      const target = pathOf(agentId);
      const path = `${target}/executions/${executionId}`;
      const read: Question<Execution>['read'] = (document) => ofRun({ executionId }, readExecution(document));
      return ask({ operation: 'status', target, path, read }, signal);
    },
  };
}
