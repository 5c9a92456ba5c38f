import type { Invocation } from '../context.ts';
import type { Document } from '../output/document.ts';
import { nameOf } from '../run/run.ts';
import { isJsonObject, type JsonObject, stringifyJson } from '../system/json.ts';
import { createWholeLines, runShellCommand } from '../system/shell-command.ts';

export interface Hook {
  command: string;
  documents: readonly Document[]; // described by its variables, and on its standard input, one per line
  variables?: Readonly<Record<string, string | null>>; // added to the documents' variables and runctl's environment
  limitMs?: number; // the command is stopped after this time
}

/** Runs a hook with its output on stderr. Returns why it failed, as the end of a sentence. */
export async function runHook(hook: Hook, context: Invocation): Promise<string | undefined> {
  const write = (text: string) => context.stderr.write(text);
  const lines = { stdout: createWholeLines(write), stderr: createWholeLines(write) };
  const { documents, ...command } = hook;
  const given = Object.entries({ RUNCTL_COMMAND: context.command, ...variablesOf(documents), ...hook.variables });
  const variables = Object.fromEntries(given.map(([name, text]) => [name, variable(text)]));
  const input = documents.map(({ json }) => `${stringifyJson(json)}\n`).join('');
  const hear = (text: string, from: keyof typeof lines) => lines[from].push(text);
  const failure = await runShellCommand({ ...command, variables, input, hear }, context);
  lines.stdout.end();
  lines.stderr.end();
  return failure;
}

// Linux can't start a process with a variable of more than 128 KiB or with NUL in one.
const longestVariable = 32_000;
const variable = (text: string | null | undefined) => (text ?? '').replaceAll('\0', '').slice(0, longestVariable);

/** The variables for a hook; those about a run are undefined if there are several documents. */
function variablesOf(documents: readonly Document[]): Record<string, string | undefined> {
  const { json = {}, run, target }: Partial<Document> = documents.length === 1 ? (documents[0] ?? {}) : {};
  const { exitCode, outcome } = factsForHook(json);
  return {
    RUNCTL_EXIT_CODE: textOf(exitCode),
    RUNCTL_OUTCOME: textOf(outcome),
    RUNCTL_STARTED: startedIn(documents),
    RUNCTL_STATUS: statusOf(json),
    RUNCTL_EXECUTION_ID: run?.executionId,
    RUNCTL_AUTOMATION: target && nameOf(target),
  };
}

/** Hooks build file names from it, and the service must not choose the folder. */
const statusOf = ({ status }: JsonObject) =>
  typeof status === 'string' && /^[a-z_]+$/i.test(status) ? status : undefined;

function startedIn(documents: readonly Document[]): string {
  const all = documents.map(({ json }) => {
    const { trigger } = factsForHook(json);
    return isJsonObject(trigger) ? trigger.started : 'no';
  });
  return all.includes('unknown') ? 'unknown' : all.includes('yes') ? 'yes' : 'no';
}

const factsForHook = (document: JsonObject): JsonObject => (isJsonObject(document.runctl) ? document.runctl : {});

const textOf = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? String(value) : undefined);
