import { expect, test } from 'vitest';
import { parseScenario } from '../../src/emulator/read-scenario.ts';
import { scenarioSchema } from '../../src/emulator/scenario.ts';
import { sampleScenario, scenarioFields } from '../../src/emulator/scenario-fields.ts';

/** The fields of an object's schema; of one that may be several things, those of all of them. */
function fieldsOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  if ('entries' in schema && typeof schema.entries === 'object') return Object.keys(schema.entries ?? {});
  if ('options' in schema && Array.isArray(schema.options)) return schema.options.flatMap(fieldsOf);
  if ('wrapped' in schema) return fieldsOf(schema.wrapped);
  if ('pipe' in schema && Array.isArray(schema.pipe)) return schema.pipe.flatMap(fieldsOf);
  if ('item' in schema) return fieldsOf(schema.item);
  if ('value' in schema) return fieldsOf(schema.value);
  return [];
}

const { entries } = scenarioSchema;

test.each([
  ['', fieldsOf(scenarioSchema)],
  ['automations.*.', fieldsOf(entries.automations)],
  ['faults[].', fieldsOf(entries.faults)],
])('every field of the schema under "%s" is described, and no other', (prefix, fields) => {
  const described = scenarioFields.map(([path]) => path).filter((path) => path.startsWith(prefix));
  const own = described.map((path) => path.slice(prefix.length)).filter((path) => /^\w+$/.test(path));
  expect(own.toSorted()).toEqual([...new Set(fields)].toSorted());
});

test('every fault is named, and no other', () => {
  const shapes = entries.faults.wrapped.item.options.map(({ entries }) => entries.do);
  const names: string[] = shapes.flatMap((name) => ('literal' in name ? [name.literal] : name.options));
  const [, described = ''] = scenarioFields.find(([path]) => path === 'faults[].do') ?? [];
  expect(described.split(/, | or /).toSorted()).toEqual(names.toSorted());
});

test('the sample is a scenario', () => {
  expect(parseScenario(sampleScenario, 'the sample').credits).toBe(100);
});
