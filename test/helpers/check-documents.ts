import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { fieldsOf } from '../../src/output/field-paths.ts';
import { documentSchema, type Schema } from '../../src/output/schemas.ts';

// The schema is open, so that fields can be added: here what is ours is closed, so that none is added by mistake.
const isObject = (value: unknown): value is Schema => typeof value === 'object' && value !== null;

function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (!isObject(value)) return value;
  const inner = Object.fromEntries(Object.entries(value).map(([key, each]) => [key, closed(each)]));
  return value.type === 'object' && value.properties ? { ...inner, additionalProperties: false } : inner;
}

const properties = documentSchema.properties as Schema;
const strictSchema: Schema = { ...documentSchema, properties: { ...properties, runctl: closed(properties.runctl) } };

// That the schemas themselves are valid is what `test/output/schemas.test.ts` tests, once and not in every worker.
const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false, code: { optimize: false } });
addFormats.default(ajv);
let compiled: ValidateFunction | undefined;

/** Throws where the document is not as the schema says. */
export function checkBySchema(document: unknown): void {
  compiled ??= ajv.compile(strictSchema);
  const shown = JSON.stringify(document);
  if (!compiled(document)) throw new Error(`document: ${ajv.errorsText(compiled.errors)}\n${shown.slice(0, 2_000)}`);
  checkClaims(document);
  checkFieldNames(document);
}

/** `--field` takes each name of the service that a document has. */
function checkFieldNames(document: unknown): void {
  const { command } = (document as { runctl: { command: string | null } }).runctl;
  const taken = fieldsOf(command ?? '');
  const refused = Object.keys(document as object).filter((name) => name in properties && !taken.includes(name));
  if (refused.length > 0) throw new Error(`field-paths.ts: ${command} has no field ${refused}`);
}

/** No sentence says that nothing was started where that isn't so. */
function checkClaims(document: unknown): void {
  const { runctl } = document as { runctl: { trigger?: { started: string } } };
  const { trigger, ...rest } = runctl;
  const isClaimed = /no (new )?run was started/.test(JSON.stringify(rest));
  if (isClaimed && trigger && trigger.started !== 'no') throw new Error(`false: ${JSON.stringify(runctl)}`);
}

/** Checks what a command line printed by the schemas, where it asked for JSON. */
export function checkDocuments(argv: readonly string[], stdout: string): void {
  if (stdout === '' || argv.includes('emulator') || stdout.startsWith('Usage: ')) return;
  // The last line may be half a line, of a process that was killed.
  const text = stdout.slice(0, stdout.lastIndexOf('\n') + 1).trim();
  if (text === '') return;
  const end = argv.indexOf('--', 1);
  const flags = end < 0 ? argv : argv.slice(0, end);
  if (flags.includes('--json')) for (const line of text.split('\n')) checkBySchema(JSON.parse(line));
}
