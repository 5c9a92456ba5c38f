// A tiny service for the benchmark, in a process of its own: every run has COMPLETED at once.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

const time = new Date().toISOString();

const server = createServer((request, response) => {
  const [, projectId, automationName, , id, isResult] =
    /^\/v0\/automation\/([^/]+)\/([^/]+)\/(trigger|executions)\/?([^/]*)(\/result)?/.exec(
      request.url,
    ) ?? [];
  const isTrigger = request.method === 'POST';
  const run = { executionId: isTrigger ? randomUUID() : id, projectId, automationName };
  const times = { startedAt: time, createdAt: time, completedAt: isTrigger ? null : time };
  const summary = { stepCount: 1, succeededSteps: 1, failedSteps: 0, skippedSteps: 0 };
  const result = isResult ? { output: 'done', summary, error: null } : {};
  response.writeHead(isTrigger ? 201 : 200, { 'content-type': 'application/json' });
  const status = isTrigger ? 'RUNNING' : 'COMPLETED';
  response.end(JSON.stringify({ ...run, status, ...times, ...result }));
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
