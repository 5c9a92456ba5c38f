import { isJsonObject, type JsonObject } from '../runs/json.ts';

/** The variables for a hook; those about a run are undefined if there are several documents. */
export function variablesOf(documents: readonly JsonObject[]): Record<string, string | undefined> {
  const [only] = documents.length === 1 ? documents : [];
  const { status, executionId, automationName, agentId } = only ?? {};
  const { exitCode, outcome } = factsOf(only);
  return {
    RUNCTL_EXIT_CODE: textOf(exitCode),
    RUNCTL_OUTCOME: textOf(outcome),
    RUNCTL_STARTED: startedOf(documents),
    RUNCTL_STATUS: textOf(status),
    RUNCTL_EXECUTION_ID: textOf(executionId),
    RUNCTL_AUTOMATION: textOf(automationName) ?? (agentId === undefined ? undefined : `agent ${agentId}`),
  };
}

function startedOf(documents: readonly JsonObject[]): string {
  const all = documents.map((document) => {
    const { trigger } = factsOf(document);
    return isJsonObject(trigger) ? trigger.started : 'no';
  });
  return all.includes('unknown') ? 'unknown' : all.includes('yes') ? 'yes' : 'no';
}

const factsOf = (document: JsonObject | undefined): JsonObject =>
  isJsonObject(document?.runctl) ? document.runctl : {};

const textOf = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? String(value) : undefined);
