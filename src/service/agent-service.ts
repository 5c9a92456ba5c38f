import type { Answer, RunSnapshot } from '../run/service.ts';
import { createRequester, type HttpOptions, type RequestSpec } from './http-request.ts';
import { type AgentStatus, ofRun, readStarted, readStatus } from './read-document.ts';

/** The discontinued Agent endpoints. Each call is one request; the ids are UUIDs. */
export function createAgentService(options: HttpOptions) {
  const request = createRequester(options);
  const pathOf = (agentId: string) => `/v0/agent/${agentId}`;
  return {
    trigger(
      agentId: string,
      send: NonNullable<RequestSpec<unknown>['send']>,
      signal: AbortSignal,
    ): Promise<Answer<RunSnapshot>> {
      const target = pathOf(agentId);
      return request(
        { endpoint: 'trigger', target, path: `${target}/trigger`, send, read: readStarted },
        signal,
      );
    },
    status(
      { agentId, executionId }: { agentId: string; executionId: string },
      signal: AbortSignal,
    ): Promise<Answer<AgentStatus>> {
      const target = pathOf(agentId);
      const path = `${target}/executions/${executionId}`;
      const read: RequestSpec<AgentStatus>['read'] = (document) =>
        ofRun({ executionId }, readStatus(document));
      return request({ endpoint: 'status', target, path, read }, signal);
    },
  };
}
