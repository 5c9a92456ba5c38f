import { expect, test } from 'vitest';
import { runCli } from '../../src/cli/run-cli.ts';
import { program } from '../../src/program.ts';
import { createMemory } from '../helpers/memory-context.ts';

async function refused(line: string): Promise<string> {
  const context = createMemory();
  expect(await runCli(line.split(' '), program, context)).toBe(2);
  return context.err().trim().split('\n').at(-1)?.trim() ?? '';
}

test.each([
  ['tigger nightly', 'did you mean trigger?'],
  ['tigger --help', 'did you mean trigger?'],
  ['help tigger', 'did you mean trigger?'],
  ['help xyz', 'topics are flags, settings, programs, troubleshooting, man'],
  ['cancel nightly', 'the service has no way to cancel a run'],
  ['stop', 'the service has no way to cancel a run'],
  ['logs nightly', 'the service has no logs of a run; `runctl result` prints its output'],
  ['config xyzzy', 'see `runctl config --help`'],
  ['xyzzy', 'see `runctl --help`'],
  ['trigger a --timout 5s', 'did you mean --timeout?'],
  ['trigger a --watch=true', 'leave out what follows `--watch`'],
  ['trigger a -w=1', 'leave out what follows `-w`'],
  ['version --fast', 'see `runctl version --help`'],
  ['--watch trigger nightly', 'see `runctl trigger --help`'],
  ['trigger a --profil x', 'did you mean --profile?'],
  ['nightly', 'see `runctl --help`'],
])('`runctl %s` is refused: %s', async (line, hint) => {
  expect((await refused(line)).replace(/^\S+ (?=\S)/, '')).toBe(hint);
});

test('an API key that was given by a flag is not repeated', async () => {
  const context = createMemory();
  const ofCommands = ['trigger nightly --api-key sk1', 'status --token=sk1', 'list --json=sk1', 'trigger -w=sk1'];
  const ofOthers = [
    'sk1 --token',
    '--token sk1',
    '--token sk1 list',
    'help --token sk1',
    'config --token sk1',
    'agent --token=sk1',
  ];
  for (const line of [...ofCommands, ...ofOthers]) expect(await runCli(line.split(' '), program, context)).toBe(2);
  expect(context.err().replace("unknown command 'sk1'", '')).not.toContain('sk1');
});
