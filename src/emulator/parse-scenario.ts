import * as v from 'valibot';
import { usageProblem } from '../problems/problem.ts';
import { isJsonObject } from '../runs/json.ts';
import { type Scenario, scenarioSchema } from './scenario.ts';

/**
 * Reads a scenario from JSON.
 * @param source what the text came from, for the message: a file name.
 * @throws Problem (usage) naming the source and the path of the wrong field.
 */
export function parseScenario(text: string, source: string): Scenario {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw usageProblem(`${source} is not JSON: ${(cause as Error).message}`, hint);
  }
  return checkScenario(value, source);
}

/** The same for a value that has been read already. */
export function checkScenario(value: unknown, source: string): Scenario {
  if (!isJsonObject(value)) throw usageProblem(`${source}: a scenario is a JSON object`, hint);
  const { issues, output } = v.safeParse(scenarioSchema, value, { abortEarly: true });
  if (issues) throw usageProblem(`${source}: ${mistakeOf(issues[0])}`, hint);
  return output;
}

const hint = '`runctl emulator --help` shows what a scenario may hold';

/** What is wrong, naming the path of the field. */
function mistakeOf(issue: v.BaseIssue<unknown>): string {
  const path = pathOf(issue.path ?? []);
  if (issue.expected === 'never') return `${path} is not a field of a scenario`;
  if (issue.received === 'undefined') return `${path} is missing`;
  const expected = issue.kind === 'schema' ? issue.expected : issue.message;
  const received = typeof issue.input === 'string' ? JSON.stringify(issue.input) : issue.received;
  return `${path} must be ${expected}, not ${received}`;
}

function pathOf(items: readonly v.IssuePathItem[]): string {
  const path = items
    .map(({ key }) => {
      if (typeof key === 'number') return `[${key}]`;
      return /^\w+$/.test(String(key)) ? `.${key}` : `[${JSON.stringify(key)}]`;
    })
    .join('');
  return path.replace(/^\./, '');
}
