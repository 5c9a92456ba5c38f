import { describe, expect, test } from 'vitest';
import { quotedName } from '../../src/run/quote.ts';
import { fullNameOf, isNamedBy, isUuid } from '../../src/run/run.ts';
import {
  finalStatusOf,
  finalStatusTable,
  graverStatus,
  isFinalStatus,
  isKnownStatus,
  isSuccess,
  unknownFinalStatus,
} from '../../src/run/statuses.ts';
import { executionId, projectId, target } from '../helpers/scripted-service.ts';

describe('a status', () => {
  test.each([
    ['RUNNING', false, true],
    ['COMPLETED', true, true],
    ['FAILED', true, true],
    ['TIMED_OUT', true, true],
    ['CANCELLED', true, true],
    [' completed ', true, true],
    [' running ', false, true],
    ['PAUSED', false, false],
    ['', false, false],
  ])('"%s" is final: %s, known: %s', (status, isFinal, isKnown) => {
    expect([isFinalStatus(status), isKnownStatus(status)]).toEqual([isFinal, isKnown]);
  });

  test.each([
    ['FAILED', 'FAILED', false],
    [' timed_out', 'TIMED_OUT', false],
    ['COMPLETED', 'COMPLETED', true],
    ['completed', 'COMPLETED', true],
    ['RUNNING', undefined, false],
  ])('"%s" is read as the documented %s, and is a success: %s', (status, final, success) => {
    expect([finalStatusOf(status), isSuccess(status)]).toEqual([final, success]);
  });

  /** SKIPPED is one that this version doesn't know. */
  const allRows = Object.entries<{ severity: number }>({ ...finalStatusTable, SKIPPED: unknownFinalStatus });
  const bySeverity = allRows.sort(([, one], [, other]) => other.severity - one.severity).map(([status]) => status);

  test('has a severity that no other one has, so that one of two statuses can be chosen', () => {
    expect(new Set(allRows.map(([, { severity }]) => severity)).size).toBe(allRows.length);
  });

  test('is gravest if it is FAILED, and least grave if it is COMPLETED', () => {
    expect([bySeverity[0], bySeverity.at(-1)]).toEqual(['FAILED', 'COMPLETED']);
  });

  test.each(
    bySeverity.flatMap((graver, index) => bySeverity.slice(index + 1).map((other) => [graver, other] as const)),
  )('of %s and %s the first is the graver', (graver, other) => {
    expect([graverStatus(graver, other), graverStatus(other, graver)]).toEqual([graver, graver]);
  });
});

test.each([
  [executionId, true],
  [executionId.toUpperCase(), true],
  [`x${executionId}`, false],
  [`${executionId}0`, false],
  [executionId.replaceAll('-', ''), false],
])('%s is a UUID: %s', (text, expected) => expect(isUuid(text)).toBe(expected));

test('a target is named as a user would name it', () => {
  expect([quotedName(target), fullNameOf(target)]).toEqual(['nightly', `${projectId}/nightly`]);
});

test.each([
  ['the same names', true, target, { projectId, automationName: 'nightly' }],
  ['another spelling', true, target, { projectId: projectId.toUpperCase(), automationName: ' Night-ly ' }],
  ['no names', true, target, {}],
  ['names that are no texts', true, target, { projectId: 7, automationName: null }],
  ['another automation', false, target, { projectId, automationName: 'weekly' }],
  ['another project', false, target, { projectId: executionId, automationName: 'nightly' }],
  ['other signs, if the name has no letters', false, { ...target, automationName: '!' }, { automationName: '?' }],
  ['the same signs', true, { ...target, automationName: '!' }, { automationName: '!' }],
  ['wide letters', true, { ...target, automationName: 'Straße' }, { automationName: 'ｓtraße' }],
] as const)('a document with %s may be about a target: %s', (_, expected, named, document) => {
  expect(isNamedBy(named, document)).toBe(expected);
});

test.each([
  ['nightly', 'nightly'],
  ['import_eu-2.1', 'import_eu-2.1'],
  ['Übersicht', 'Übersicht'],
  ['夜間', '夜間'],
  ['EU - Asia', '"EU - Asia"'],
  ['it is', '"it is"'],
  ['a;b', '"a;b"'],
  ['say "x"', '"say \\"x\\""'],
  ['(test)', '"(test)"'],
  ['a`b', '"a\\u0060b"'],
])('in a message, the automation %s is called %s', (automationName, shown) => {
  expect(quotedName({ automationName })).toBe(shown);
});
