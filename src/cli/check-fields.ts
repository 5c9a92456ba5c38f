import { nearest } from '../problems/nearest.ts';
import { usageProblem } from '../problems/problem.ts';
import { quote } from '../problems/quote.ts';
import { fieldsOf, fieldsOfObjects } from '../render/field-paths.ts';
import { isJsonObject, type JsonObject } from '../runs/json.ts';

const ofRunctl = ['problem', 'outcome', 'exitCode', 'next', 'trigger', 'warnings', 'durationMs'];

/** Throws a usage problem for a field that no document has: a script would read an empty value forever. */
export function checkFields(paths: readonly string[] = [], command: string): void {
  const known = fieldsOf(command);
  const odd = paths.find((path) => !known.includes(path.replace(/\..*/s, '')));
  if (odd === undefined) return;
  const [name = ''] = odd.split('.');
  const typed = name.toLowerCase();
  const isAlike = (field: string) => field.startsWith(typed.slice(0, 3)) || field.endsWith(typed);
  const alike = known.find((field) => isAlike(field.toLowerCase()));
  const meant = ofRunctl.includes(name) ? `runctl.${odd}` : (nearest(name, known) ?? alike);
  throw usageProblem(
    `documents of runctl ${command} have no field ${quote(name)}`,
    meant ? `did you mean \`--field ${meant}\`?` : `it has ${known.join(', ')}`,
  );
}

/** Notes on names further down that no schema has. Only under `runctl` they are refused: the service may add fields. */
export async function notesOnFields(paths: readonly string[] = []): Promise<string[]> {
  const deep = paths.filter((path) => path.includes('.'));
  if (deep.length === 0) return [];
  const { documentSchema } = await import('../render/schemas.ts');
  return deep.flatMap((path) => {
    const odd = unknownNameIn(path.split('.'), {
      properties: { ...fieldsOfObjects, ...propertiesOf(documentSchema) },
    });
    if (!odd) return [];
    const meant = nearest(odd.name, odd.names);
    const fixed = path
      .split('.')
      .with(odd.at, meant ?? '')
      .join('.');
    const hint = meant ? `did you mean \`--field ${fixed}\`?` : `known there: ${odd.names.join(', ')}`;
    if (path.startsWith('runctl.')) throw usageProblem(`there is no field ${quote(path)}`, hint);
    return `runctl: unknown field ${quote(path)}; ${hint}`;
  });
}

/** The first name of a path that its schema lacks. None if the schema lists no names. */
function unknownNameIn(path: readonly string[], schema: unknown) {
  let inner = schema;
  for (const [at, name] of path.entries()) {
    if (!isJsonObject(inner)) return undefined;
    if (isJsonObject(inner.properties)) {
      const names = Object.keys(inner.properties);
      if (!names.includes(name)) return { name, names, at };
      inner = inner.properties[name];
    } else inner = inner.items;
  }
  return undefined;
}

const propertiesOf = (schema: JsonObject = {}) => (isJsonObject(schema.properties) ? schema.properties : {});
