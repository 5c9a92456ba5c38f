import { expect, test } from 'vitest';
import { checkFields } from '../../src/cli/check-fields.ts';
import { runCli } from '../../src/cli/run-cli.ts';
import { knownPaths } from '../../src/output/field-paths.ts';
import { program } from '../../src/program.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

test.each([...knownPaths, 'output.rows.0', 'runctl.config.baseUrl.source', 'runctl.problem.httpStatus'])(
  '--field %s is accepted',
  async (path) => expect(await checkFields([path], 'trigger')).toBeUndefined(),
);

test.each([
  ['runctl.trigger.started_', 'started'],
  ['runctl.outcom', 'outcome'],
  ['runctl.warnings.0.mesage', 'message'],
  ['runctl.version.nod', 'node'],
])('--field %s is refused, because only runctl writes there, and %s is suggested', async (path, meant) => {
  const folder = temporaryFolder();
  const context = createMemory({ RUNCTL_STATE_DIR: folder, RUNCTL_CONFIG_DIR: folder });
  expect(await runCli(['version', '--field', path], program, context)).toBe(2);
  expect(context.out()).toBe('');
  expect(context.err().replaceAll(/\s+/g, ' ')).toMatch(new RegExp(`(use one of .*|did you mean )\\b${meant}\\b`));
});

test.each(['x[', '(', 'constructor-\u001b[2J'])(
  '--field %j is refused like any other field that no document has',
  async (path) => {
    const folder = temporaryFolder();
    const context = createMemory({ RUNCTL_STATE_DIR: folder, RUNCTL_CONFIG_DIR: folder });
    expect(await runCli(['list', '--field', path], program, context)).toBe(2);
    expect(context.err()).toContain('have no field');
  },
);
