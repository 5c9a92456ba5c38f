import type { Run } from '../runs/run.ts';

/** A run that cannot exist: that the service does not find it says that the service is there and takes the API key. */
export const madeUpRun = (projectId: string = crypto.randomUUID()): Run => ({
  target: { family: 'automation', projectId, automationName: 'runctl-settings-check' },
  executionId: crypto.randomUUID(),
});
