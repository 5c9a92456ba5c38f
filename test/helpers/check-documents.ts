import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { type Schema, schemas } from '../../src/render/schemas.ts';

// The schemas are open, so that fields can be added: here they are closed, so that none is added by mistake.
const isObject = (value: unknown): value is Schema => typeof value === 'object' && value !== null;

function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (!isObject(value)) return value;
  const inner = Object.fromEntries(Object.entries(value).map(([key, each]) => [key, closed(each)]));
  // A document has the fields of the service, too.
  const isOurs =
    value.type === 'object' &&
    isObject(value.properties) &&
    !('runctl' in value.properties && 'executionId' in value.properties);
  return isOurs ? { ...inner, additionalProperties: false } : inner;
}

// That the schemas themselves are valid is what `test/render/schemas.test.ts` tests, once and not in every worker.
const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false, code: { optimize: false } });
addFormats.default(ajv);
const compiled = new Map<string, ValidateFunction>();

/** Throws where the value is not as the schema of this name says. */
export function checkBySchema(name: 'document' | 'event', value: unknown): void {
  const validate = compiled.get(name) ?? ajv.compile(closed(schemas[name]) as Schema);
  compiled.set(name, validate);
  const shown = JSON.stringify(value);
  if (!validate(value)) throw new Error(`${name}: ${ajv.errorsText(validate.errors)}\n${shown.slice(0, 2_000)}`);
  if (name === 'document') checkClaims(value);
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
  const name = flags.includes('--events') ? 'event' : flags.includes('--json') ? 'document' : undefined;
  if (name) for (const line of text.split('\n')) checkBySchema(name, JSON.parse(line));
}
