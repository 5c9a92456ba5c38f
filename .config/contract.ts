import { type Schema, schemas } from '../src/render/schemas.ts';

/** What the package holds for programs, by path: the JSON Schemas, and types for TypeScript that say the same. */
export function contractFiles(): Record<string, string> {
  const files = Object.entries(schemas).map(([name, schema]) => [
    `schema/${name}.json`,
    `${JSON.stringify(schema, null, 2)}\n`,
  ]);
  return { ...Object.fromEntries(files), 'runctl.d.ts': declarations() };
}

function declarations(): string {
  const named = Object.entries(schemas).map(([name, schema]) => {
    const type = name.replace(/^./, (letter) => letter.toUpperCase());
    return `/** ${schema.title} */\nexport type ${type} = ${typeOf(schema)};\n`;
  });
  return `// Made from the JSON Schemas beside it. Fields may be added within \`schema: 1\`.\n\n${named.join('\n')}`;
}

/** The type of what fits a schema. Conditions (\`if\`) have no equal in a type: what they ask for is optional. */
function typeOf(value: unknown, indent = ''): string {
  if (value === false) return 'never';
  if (!isSchema(value)) return 'unknown';
  const { type, items, properties, required, additionalProperties } = value;
  if ('const' in value) return JSON.stringify(value.const);
  const several = [value.oneOf, value.anyOf, Array.isArray(type) && type.map((each) => ({ type: each }))].find(
    Array.isArray,
  );
  if (several) return several.map((each) => nested(each, indent)).join(' | ');
  if (Array.isArray(value.enum)) return value.enum.map((each) => JSON.stringify(each)).join(' | ');
  if (type === 'array') return listOf(nested(items, indent));
  if (isSchema(additionalProperties)) return `Record<string, ${nested(additionalProperties, indent)}>`;
  if (!isSchema(properties)) return words[String(type)] ?? 'unknown';
  const inner = `${indent}  `;
  const isOptional = (name: string) => !(Array.isArray(required) && required.includes(name));
  const lines = Object.entries(properties).map(
    ([name, each]) => `${inner}${name}${isOptional(name) ? '?' : ''}: ${nested(each, inner)};`,
  );
  // A document has the fields of the service, too.
  if ('runctl' in properties && 'executionId' in properties) lines.push(`${inner}[field: string]: unknown;`);
  return `{\n${lines.join('\n')}\n${indent}}`;
}

const listOf = (type: string) => (/^\w+$/.test(type) ? `${type}[]` : `(${type})[]`);

/** A document that stands in something else goes by its name. */
const nested = (value: unknown, indent: string): string =>
  isSchema(value) && value.properties === schemas.document?.properties ? 'Document' : typeOf(value, indent);

const words: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
};

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
