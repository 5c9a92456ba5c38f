import { usageProblem } from '../problems/problem.ts';
import type { Scenario } from './scenario.ts';
import { findMistake } from './schema.ts';

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
  const mistake = findMistake(value);
  if (mistake) throw usageProblem(`${source}: ${mistake}`, hint);
  return value as Scenario;
}

const hint = '`runctl emulator --help` shows what a scenario may hold';
