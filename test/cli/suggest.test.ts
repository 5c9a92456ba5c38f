import { expect, test } from 'vitest';
import { runCli } from '../../src/cli/run.ts';
import { program } from '../../src/program.ts';
import { createMemory } from '../helpers/memory-context.ts';

async function refused(line: string): Promise<string> {
  const context = createMemory();
  expect(await runCli(line.split(' '), program, context)).toBe(2);
  return context.err().trim().split('\n').at(-1)?.trim() ?? '';
}

test.each([
  ['tigger nightly', '→ did you mean `runctl trigger`?'],
  ['start nightly', '→ did you mean `runctl trigger`?'],
  ['run nightly', '→ did you mean `runctl trigger`?'],
  ['run list', '→ did you mean `runctl list`?'],
  ['retry nightly', '→ did you mean `runctl trigger`?'],
  ['whoami', '→ did you mean `runctl config list`?'],
  ['login', '→ did you mean `runctl config`?'],
  ['cancel nightly', '→ the service has no way to cancel a run'],
  ['logs nightly', '→ the service has no logs of a run; `runctl result` prints its output'],
  ['trigger a --wait', '→ did you mean `--watch`?'],
  ['trigger a --input x', '→ the service takes no input for a run'],
  ['trigger --name a', '→ a name is given without a flag: `runctl trigger <automation>`'],
  ['trigger a --timout 5s', '→ did you mean `--timeout`?'],
  ['delete nightly', '→ the service has no way to delete a run'],
  ['stop', '→ the service has no way to cancel a run'],
  ['config show', '→ did you mean `runctl config list`?'],
  ['config edit', '→ did you mean `runctl config path`?'],
  ['config remove project', '→ did you mean `runctl config unset`?'],
  ['config lst', '→ did you mean `runctl config list`?'],
  ['config xyzzy', '→ see `runctl config --help`'],
  ['list --all', '→ `runctl list --limit 1000000` shows every run of the journal'],
  ['status --all', '→ did you mean `runctl list`?'],
  ['watch -f', '→ `runctl watch` follows a run to its end without a flag'],
  ['watch nightly -f', '→ `runctl watch` follows a run to its end without a flag'],
  ['list -o json', '→ did you mean `--json`?'],
  ['list --format=json', '→ did you mean `--json`?'],
  ['xyzzy', '→ see `runctl --help`'],
])('after `runctl %s`, the suggestion is: %s', async (line, suggestion) => {
  expect(await refused(line)).toBe(suggestion);
});
