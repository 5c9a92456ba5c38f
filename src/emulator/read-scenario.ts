import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { parseJson } from '../json-text.ts';
import { usageProblem } from '../problems/problem.ts';
import { checkScenario, type Scenario, scenarioHint } from './scenario.ts';

const mostBytes = 2 ** 20;

/** Reads a scenario file. Throws a usage problem, also for a device or a pipe, which might never end. */
export async function readScenario(path: string): Promise<Scenario> {
  const refuse = (why: string) => usageProblem(`the scenario ${path} ${why}`, scenarioHint);
  // Without O_NONBLOCK, opening a FIFO waits for a writer.
  const throwUnreadable = ({ message }: Error) => {
    throw refuse(`can't be read: ${message}`);
  };
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(throwUnreadable);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw refuse('is not a file');
    if (stats.size > mostBytes) throw refuse(`is larger than ${mostBytes / 1024} KiB`);
    return parseScenario(await file.readFile('utf8').catch(throwUnreadable), path);
  } finally {
    await file.close();
  }
}

/** Parses the text of a scenario file. Throws as `checkScenario` does. */
export function parseScenario(text: string, source: string): Scenario {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    // The rest of the parser's message may quote the text, which may be a file of secrets.
    const [place = ''] = / at position \d+/.exec(String(error)) ?? [];
    throw usageProblem(`${source} can't be read as JSON${place}`, scenarioHint);
  }
  return checkScenario(value, source);
}
