import type { Answer, RunStatus } from '../run/service.ts';
import { createAsk, type HttpOptions, type Question } from './call.ts';
import { type AgentStatus, ofRun, readStarted, readStatus } from './read-document.ts';

/** The discontinued Agent endpoints. Each call is one request; the ids are UUIDs. */
export function createAgentService(options: HttpOptions) {
  const ask = createAsk(options);
  const pathOf = (agentId: string) => `/v0/agent/${agentId}`;
  return {
    trigger(
      agentId: string,
      send: NonNullable<Question<unknown>['send']>,
      signal: AbortSignal,
    ): Promise<Answer<RunStatus>> {
      const target = pathOf(agentId);
      return ask({ operation: 'trigger', target, path: `${target}/trigger`, send, read: readStarted }, signal);
    },
    status(
      { agentId, executionId }: { agentId: string; executionId: string },
      signal: AbortSignal,
    ): Promise<Answer<AgentStatus>> {
      const target = pathOf(agentId);
      const path = `${target}/executions/${executionId}`;
      const read: Question<AgentStatus>['read'] = (document) => ofRun({ executionId }, readStatus(document));
      return ask({ operation: 'status', target, path, read }, signal);
    },
  };
}
