import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { define } from '../../src/cli/command.ts';
import { runCli } from '../../src/cli/run-cli.ts';
import type { CommandContext } from '../../src/context.ts';
import type { CommandResult } from '../../src/output/command-result.ts';
import { usageProblem } from '../../src/run/problem.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { target } from '../helpers/scripted-service.ts';

type Run = (context: CommandContext) => Promise<CommandResult | number>;

/** Types `runctl test …flags`, where the command `test` is this function, which may start runs. */
async function typed(run: Run, flags: string[] = [], crash?: Promise<never>) {
  const command = define(new Command('test'), { triggersRuns: true, run: (_, __, context) => run(context) });
  const program = new Command('runctl').option('--json').addCommand(command);
  const context = createMemory();
  const code = await runCli(['test', ...flags], program, context, crash);
  return { code, out: context.out(), err: context.err() };
}

const failed = usageProblem('it is wrong', 'make it right');
const answer: CommandResult = {
  outcomes: [
    { kind: 'info', fields: { a: 1 } },
    { kind: 'problem', problem: failed, target },
  ],
  forPeople: { text: () => 'text\n', note: 'a note', next: 'do `this`' },
};
const problemLines = 'runctl: nightly: it is wrong\n  → make it right\n';

describe('what a command returns', () => {
  test('is printed as text on stdout, with the problem and the hint on stderr', async () => {
    const err = `${problemLines}a note\n  → do 'this'\n`;
    expect(await typed(async () => answer)).toEqual({ code: 2, out: 'text\n', err });
  });

  test('is printed with --json as documents on stdout, one per line, with only the problem on stderr', async () => {
    const { out, ...ended } = await typed(async () => answer, ['--json']);
    expect(ended).toEqual({ code: 2, err: problemLines });
    const documents = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).runctl);
    expect(documents).toMatchObject([{ a: 1 }, { problem: { name: 'usage' } }]);
  });

  test('may be only an exit code', async () => {
    expect(await typed(async () => 42)).toEqual({ code: 42, out: '', err: '' });
  });
});

test.each([
  ['what it refused', failed, { how: 'not_started', started: 'no', safeToRepeat: true }],
  ['a bug', new Error('a bug'), { how: 'unknown', started: 'unknown', safeToRepeat: false }],
])('a command that starts runs says after %s whether it may be repeated', async (_, error, trigger) => {
  const { out } = await typed(() => Promise.reject(error), ['--json']);
  expect(JSON.parse(out).runctl.trigger).toMatchObject(trigger);
});

test('an uncaught error makes the command exit with 70, and has a document', async () => {
  const crash = Promise.reject<never>(new Error('nobody caught this'));
  const { code, out } = await typed(() => new Promise(() => {}), ['--json'], crash);
  expect(code).toBe(70);
  expect(JSON.parse(out).runctl.problem).toMatchObject({ name: 'internal_error' });
});
