import { expect, test } from 'vitest';
import { openJournal } from '../../src/journal/journal.ts';
import { parseRunArgument } from '../../src/session/arguments.ts';
import { findRun } from '../../src/session/find-run.ts';
import { executionId, projectId, running, scriptedService, target } from '../helpers/scripted-service.ts';
import { baseUrl, createSession } from '../helpers/session.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

test.each([executionId, executionId.toUpperCase()])(
  'a run is found in either case of its id, and keeps the one that the service wrote: %s',
  (written) => {
    const folder = temporaryFolder();
    const journal = openJournal({ folder, nowMs: Date.now, onTrouble() {} });
    const { value } = running({ executionId: written }) as Extract<ReturnType<typeof running>, { kind: 'ok' }>;
    journal.recordStatus(baseUrl, { target, executionId: written }, value);
    const session = createSession(scriptedService({}), { journal });
    for (const typed of [executionId, executionId.toUpperCase()]) {
      for (const argument of [typed, `${projectId}/nightly/${typed}`]) {
        expect(findRun(parseRunArgument(argument), {}, session).run.executionId).toBe(written);
      }
    }
  },
);

test('the id of a run that is not on record is sent as it was typed', () => {
  const capitals = executionId.toUpperCase();
  const named = parseRunArgument(`${projectId}/nightly/${capitals}`);
  expect(findRun(named, {}, createSession(scriptedService({}))).run.executionId).toBe(capitals);
});
