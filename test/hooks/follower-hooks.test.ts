import { expect, test } from 'vitest';
import { createHookRecord } from '../../src/hooks/follower-hooks.ts';
import { openJournal } from '../../src/journal/journal.ts';
import { createProcesses } from '../../src/journal/processes.ts';
import { baseUrl } from '../helpers/connection.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { executionId, target } from '../helpers/scripted-service.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const run = { target, executionId };

test.each([
  ['before', false],
  ['after', true],
] as const)(
  'a hook that another process begins at the same time, its line %s ours: we run it is %s',
  (place, isOurs) => {
    const journal = openJournal({ folder: temporaryFolder(), nowMs: Date.now, onTrouble: expect.unreachable });
    const others = () => journal.append({ type: 'hook_begun', baseUrl, ...run, process: 'other-host 1 1' });
    const append: typeof journal.append = (record) => {
      if (place === 'before') others();
      const isWritten = journal.append(record);
      if (place === 'after') others();
      return isWritten;
    };
    const shared = { journal: { ...journal, append }, baseUrl, processes: createProcesses(), context: createMemory() };
    expect(createHookRecord(shared).begin(run)).toBe(isOurs);
  },
);
