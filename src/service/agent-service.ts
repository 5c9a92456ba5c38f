import type { Answer, RunSnapshot } from '../run/service.ts';
import { createRequester, type HttpOptions, type RequestSpec } from './http-request.ts';
import { type AgentStatus, ofRun, parseStarted, parseStatus } from './parse-document.ts';

/** The discontinued Agent endpoints. Each call is one request; the ids are UUIDs. */
export function createAgentService(options: HttpOptions) {
  const request = createRequester(options);
  const pathOf = (agentId: string) => `/v0/agent/${agentId}`;
  return {
    trigger(
      agentId: string,
      payload: NonNullable<RequestSpec<unknown>['payload']>,
      signal: AbortSignal,
    ): Promise<Answer<RunSnapshot>> {
      const targetPath = pathOf(agentId);
      const path = `${targetPath}/trigger`;
      const spec = { endpoint: 'trigger', targetPath, path, payload, read: parseStarted } as const;
      return request(spec, signal);
    },
    status(
      { agentId, executionId }: { agentId: string; executionId: string },
      signal: AbortSignal,
    ): Promise<Answer<AgentStatus>> {
      const targetPath = pathOf(agentId);
      const path = `${targetPath}/executions/${executionId}`;
      const read: RequestSpec<AgentStatus>['read'] = (document) =>
        ofRun({ executionId }, parseStatus(document));
      return request({ endpoint: 'status', targetPath, path, read }, signal);
    },
  };
}
