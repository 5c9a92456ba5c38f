import { describe, expect, test } from 'vitest';
import { parseRunArgument } from '../../src/connection/arguments.ts';
import { hintContextOf } from '../../src/connection/connection.ts';
import { findRun } from '../../src/connection/find-run.ts';
import { openJournal } from '../../src/journal/journal.ts';
import { runHandleOf } from '../../src/journal/run-handle.ts';
import type { Reporter } from '../../src/run/events.ts';
import { Problem } from '../../src/run/problem.ts';
import { quotedName } from '../../src/run/quote.ts';
import { account, baseUrl, createConnection } from '../helpers/connection.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { executionId, scriptedService, target } from '../helpers/scripted-service.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const project = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;
const elsewhere = 'https://elsewhere.test';

/** A machine whose journal holds these, the oldest first: `<name> <id>`, or a name alone for an unresolved trigger. */
function createMachine(
  known: string[],
  { env = {}, inForce = '' }: { env?: Record<string, string>; inForce?: string } = {},
) {
  const warnings: string[] = [];
  const hints: string[] = [];
  const reporter: Reporter = {
    emit: (event) => event.event === 'warning' && warnings.push(event.message),
    stop() {},
  };
  const context = { ...createMemory(env), reporter };
  const { clock } = context;
  const journal = openJournal({
    folder: temporaryFolder(),
    nowMs: clock.nowMs,
    onFailure: (what) => expect.unreachable(what),
  });
  for (const [index, text] of known.entries()) {
    const [name = '', executionId, place] = text.split(' ');
    const [automationName = '', number = '1'] = name.split('@');
    const target = { projectId: project(Number(number)), automationName } as const;
    const key = { baseUrl: place ?? baseUrl, target, idempotencyKey: `key-${index}` };
    const attempt = { account, attempt: `attempt-${index}`, body: '{}', userProvided: false };
    journal.append({ type: 'triggered', ...key, ...attempt, first: true });
    if (executionId) journal.append({ type: 'accepted', ...key, executionId, status: 'RUNNING', first: true });
  }
  const connection = createConnection(scriptedService({}), { context, journal });
  if (inForce) connection.settings = { ...connection.settings, project: { value: inForce, source: 'flag' } };
  /** The run that is found, or why there is none. */
  const find = async (text: string) => {
    try {
      const { run } = await findRun(parseRunArgument(text), connection);
      return `${quotedName(run.target)} ${run.executionId}`;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      expect(error.facts.name).toBe('usage');
      hints.push(...(error.facts.choices ?? []), error.facts.hint ?? '');
      return error.message;
    }
  };
  return { find, connection, warnings, hints };
}

const a = 'aaaa0000-0000-4000-8000-000000000000';
const b = 'aaaa1111-0000-4000-8000-000000000000';
const c = 'cccc0000-0000-4000-8000-000000000000';

describe('a run argument', () => {
  test.each([
    ['an id', a, `nightly ${a}`],
    ['an id in capitals', a.toUpperCase(), `nightly ${a}`],
    ['an automation, meaning its last run', 'nightly', `nightly ${b}`],
    ['an automation with its project', `${project(1)}/nightly`, `nightly ${b}`],
    ['the beginning of an id', 'aaaa1', `nightly ${b}`],
    ['four characters of an id', 'cccc', `weekly ${c}`],
    ['the beginning of an id in capitals', 'AAAA0', `nightly ${a}`],
    ['the last run', '@last', `beef ${c.replaceAll('c', 'b')}`],
    ['the name of an automation before the beginning of an id', 'beef', `beef ${c.replaceAll('c', 'b')}`],
    ['a run in full', `${project(7)}/other/${project(9)}`, `other ${project(9)}`],
  ])('may be %s', async (_, text, found) => {
    const machine = createMachine([
      `nightly ${a}`,
      `nightly ${b}`,
      `weekly ${c}`,
      'beef beef0000-0000-4000-8000-000000000000',
      `beef ${c.replaceAll('c', 'b')}`,
      `weekly aaaa1222-0000-4000-8000-000000000000 ${elsewhere}`,
    ]);
    expect(await machine.find(text)).toBe(found);
    expect(machine.warnings).toEqual([]);
  });

  test.each([
    ['is empty', '', 'empty'],
    ['is nothing that the journal holds', 'monthly', '"monthly"'],
    ['is the beginning of two ids', 'aaaa', '2 runs'],
    ['is less than four characters of an id', 'ccc', '"ccc"'],
    ['is an id that the journal does not hold', project(9), `run ${project(9)} is not in`],
    ['is in the journal as of another automation', `${project(1)}/weekly/${a}`, `of ${project(1)}/nightly, not`],
    ['lacks its project, which no setting has', `nightly/${a}`, 'no project'],
    ['is a project and an id', `${project(1)}/${c}`, "isn't a run"],
    ["can't be sent in a path", '..', '".."'],
  ])('is refused if it %s', async (_, text, why) => {
    const machine = createMachine([`nightly ${b}`, `nightly ${a}`, `weekly ${c}`]);
    expect(await machine.find(text)).toContain(why);
  });

  test('lists the ids to choose from, newest first, if it is the beginning of several', async () => {
    const machine = createMachine([`nightly ${a}`, `weekly ${b}`, `hourly ${c}`]);
    await machine.find('aaaa');
    expect(machine.hints).toEqual(
      [/^aaaa1111 .*weekly/, /^aaaa0000 .*nightly/, /./].map((form) => expect.stringMatching(form)),
    );
    const alike = Array.from({ length: 12 }, (_, index) => `nightly aaaa1111-0000-4000-8000-0000000000${index + 10}`);
    const busy = createMachine(alike);
    expect(await busy.find('aaaa')).toContain('more than 10');
    expect(busy.hints).toHaveLength(11);
    expect(busy.hints[0]).toMatch(/^aaaa1111-0000-4000-8000-000000000021 .*nightly/);
  });

  test.each([
    ['constructor', 'runctl list'],
    ['abc', 'at least 4 characters'],
  ])('is answered with a hint if it is a misspelled name: %s', async (text, hint) => {
    const machine = createMachine([`nightly ${a}`]);
    expect(await machine.find(text)).toContain(`"${text}"`);
    expect(machine.hints.join()).toContain(hint);
  });

  test('is refused if it names an automation of two projects, unless the project is given', async () => {
    const known = [`nightly@1 ${a}`, `nightly@2 ${b}`, `nightly@1 ${c}`];
    expect(await createMachine(known).find('nightly')).toContain(`${project(1)}/nightly and ${project(2)}/nightly`);
    expect(await createMachine(known, { inForce: project(2) }).find('nightly')).toBe(`nightly ${b}`);
    expect(await createMachine(known).find(`${project(2)}/nightly`)).toBe(`nightly ${b}`);
    expect(await createMachine([`nightly@2 ${b} ${elsewhere}`, `nightly@1 ${a}`]).find('nightly')).toBe(`nightly ${a}`);
  });

  test.each([a, `${project(1)}/nightly/${a}`])(
    'is refused if it names a run of another base URL, which the message names: %s',
    async (text) => {
      const { find, hints } = createMachine([`nightly ${a} ${elsewhere}`]);
      expect(await find(text)).toMatch(new RegExp(`${a} .*${elsewhere}.*${baseUrl}`));
      expect(hints).toEqual([expect.stringContaining(`--base-url ${elsewhere}`)]);
    },
  );

  test('may be an automation and an id, with the project from the settings', async () => {
    const machine = createMachine([`nightly ${a}`], { inForce: project(1) });
    expect(await machine.find(`weekly/${c}`)).toBe(`weekly ${c}`);
    expect(await machine.find(`reports/weekly/${c}`)).toBe(`"reports/weekly" ${c}`);
  });
});

describe('a later trigger whose outcome is unknown', () => {
  test.each(['nightly', '@last'])('is reported with the run before it, the last of several: %s', async (text) => {
    const machine = createMachine([`nightly ${a}`, 'weekly', 'nightly']);
    expect(await machine.find(text)).toBe(`nightly ${a}`);
    expect(machine.warnings).toEqual([expect.stringMatching(/nightly .*runctl recover.* before it/)]);
  });

  test('is not mentioned if a run came after it, or if it is of another automation', async () => {
    const machine = createMachine(['nightly', `nightly ${a}`, 'weekly']);
    expect(await machine.find('nightly')).toBe(`nightly ${a}`);
    expect(machine.warnings).toEqual([]);
  });
});

describe('a run in a command to type next', () => {
  const target = { projectId: project(1), automationName: 'night shift' } as const;
  const inFull = (id: string) => `'${project(1)}/night shift/${id}'`;

  test.each<[string, Record<string, string>, string, string]>([
    ['by its id if the journal holds it', {}, a, a],
    ['in full if the journal does not hold it', {}, c, inFull(c)],
    ['in full in CI', { CI: 'true' }, a, inFull(a)],
    ['in full in GitHub Actions', { GITHUB_ACTIONS: 'true' }, a, inFull(a)],
    ['by its id if CI is empty', { CI: '' }, a, a],
  ])('is named %s', (_, env, executionId, argument) => {
    const { connection } = createMachine([`nightly ${a}`], { env });
    expect(hintContextOf(connection).argumentOf({ target, executionId })).toBe(argument);
  });
});

test('the time since the trigger of a recorded run is measured by the wall clock', () => {
  const { connection } = createMachine([`nightly ${a}`]);
  const record = connection.journal.find(a, connection);
  if (!record) return expect.unreachable('the journal holds the run');
  const run = { target, executionId: a };
  const clock = { ...connection.context.clock, nowMs: () => Date.parse(record.at) + 1000 };
  expect(runHandleOf(run, record, clock).sinceTriggerMs?.()).toBe(1000);
  expect(runHandleOf(run, { ...record, idempotencyKey: undefined }, clock).sinceTriggerMs).toBeUndefined();
  expect(runHandleOf(run, undefined, clock)).toEqual({ run });
});

test.each([executionId, executionId.toUpperCase()])(
  'a run is found by its id in any case of letters, and keeps the case of the service: %s',
  async (written) => {
    const { find } = createMachine([`nightly ${written}`]);
    for (const typed of [executionId, executionId.toUpperCase()]) {
      for (const argument of [typed, `${project(1)}/nightly/${typed}`]) {
        expect(await find(argument)).toBe(`nightly ${written}`);
      }
    }
  },
);

test('the id of a run that is not recorded is sent as it was typed', async () => {
  const capitals = executionId.toUpperCase();
  expect(await createMachine([]).find(`${project(1)}/nightly/${capitals}`)).toBe(`nightly ${capitals}`);
});
