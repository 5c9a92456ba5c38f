import { mkdirSync, realpathSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import Conf from 'conf';
import { isJsonObject, type JsonObject } from '../runs/json.ts';
import { usageProblem } from '../runs/problem.ts';

/** Writes the config file: atomically, mode 0600, unknown fields kept. Throws a usage problem where it cannot. */
export function changeConfigFile(path: string, change: (content: JsonObject) => void): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // A linked file (dotfile repositories) is written where it lies, not replaced.
    const real = realPathOf(path);
    const conf = new Conf<JsonObject>({
      cwd: dirname(real),
      configName: basename(real, '.json'),
      projectName: 'runctl',
      projectSuffix: '',
      configFileMode: 0o600,
      accessPropertiesByDotNotation: false,
    });
    const content = structuredClone(conf.store);
    change(content);
    conf.store = content;
  } catch (error) {
    throw usageProblem(`the config file ${path} cannot be written: ${(error as Error).message}`);
  }
}

/** The object at `key`, made where there is none. */
export function childOf(parent: JsonObject, key: string): JsonObject {
  const child = parent[key];
  if (isJsonObject(child)) return child;
  const made: JsonObject = {};
  parent[key] = made;
  return made;
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
