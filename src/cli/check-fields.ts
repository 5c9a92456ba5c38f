import { fieldsOf } from '../output/field-paths.ts';
import { didYouMean } from '../run/near-words.ts';
import { usageProblem } from '../run/problem.ts';
import { quote } from '../run/quote.ts';
import { isJsonObject } from '../system/json.ts';

/**
 * Throws a usage problem for a field that no document has, because a script would read an empty
 * value forever.
 */
export async function checkFields(paths: readonly string[] = [], command: string): Promise<void> {
  const fields = fieldsOf(command);
  for (const path of paths) {
    const [first = '', ...names] = path.split('.');
    if (!fields.includes(first))
      throw usageProblem(
        `documents of ${command} have no field ${quote(first)}`,
        didYouMean(first, fields) ?? `fields: ${fields.join(', ')}`,
      );
    // Only runctl writes the object `runctl`, so its fields are known. The service may add fields
    // to all others.
    if (first === 'runctl' && names.length > 0) await checkRunctlField(path);
  }
}

async function checkRunctlField(path: string): Promise<void> {
  const { documentSchema } = await import('../output/schemas.ts');
  let inner: unknown = documentSchema;
  for (const name of path.split('.')) {
    if (!isJsonObject(inner)) return;
    if (isJsonObject(inner.properties)) {
      const names = Object.keys(inner.properties);
      if (!names.includes(name))
        throw usageProblem(
          `there is no field ${quote(path)}`,
          didYouMean(name, names) ?? `use one of ${names.join(', ')}`,
        );
      inner = inner.properties[name];
    } else inner = inner.items;
  }
}
