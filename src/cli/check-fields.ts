import { usageProblem } from '../problems/problem.ts';
import { quote } from '../problems/quote.ts';
import { fieldsOf, fieldsOfObjects } from '../render/field-paths.ts';
import { isJsonObject, type JsonObject } from '../runs/json.ts';

/** Throws a usage problem for a field that no document has: a script would read an empty value forever. */
export function checkFields(paths: readonly string[] = [], command: string): void {
  const known = fieldsOf(command);
  const odd = paths.find((path) => !known.includes(path.replace(/\..*/s, '')));
  if (odd === undefined) return;
  const [name = ''] = odd.split('.');
  throw usageProblem(`documents of runctl ${command} have no field ${quote(name)}`, `they have ${known.join(', ')}`);
}

/** Notes on names further down that no schema has. Only under `runctl` they are refused: the service may add fields. */
export async function notesOnFields(paths: readonly string[] = []): Promise<string[]> {
  const deep = paths.filter((path) => path.includes('.'));
  if (deep.length === 0) return [];
  const { documentSchema } = await import('../render/schemas.ts');
  return deep.flatMap((path) => {
    const known = namesInsteadOf(path.split('.'), {
      properties: { ...fieldsOfObjects, ...propertiesOf(documentSchema) },
    });
    if (!known) return [];
    const hint = `known there: ${known.join(', ')}`;
    if (path.startsWith('runctl.')) throw usageProblem(`there is no field ${quote(path)}`, hint);
    return `runctl: unknown field ${quote(path)}; ${hint}`;
  });
}

/** The names that a schema has in place of one of the path. None if it has them all, or lists no names. */
function namesInsteadOf(path: readonly string[], schema: unknown): string[] | undefined {
  let inner = schema;
  for (const name of path) {
    if (!isJsonObject(inner)) return undefined;
    if (isJsonObject(inner.properties)) {
      const names = Object.keys(inner.properties);
      if (!names.includes(name)) return names;
      inner = inner.properties[name];
    } else inner = inner.items;
  }
  return undefined;
}

const propertiesOf = (schema: JsonObject = {}) => (isJsonObject(schema.properties) ? schema.properties : {});
