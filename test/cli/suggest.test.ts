import { expect, test } from 'vitest';
import { namesOf } from '../../src/cli/check-flags.ts';
import { checkNames } from '../../src/cli/check-names.ts';
import type { CommandDefinition } from '../../src/cli/define-command.ts';
import { commandWords, configWords, flagWords, impossibleWords, runWords } from '../../src/cli/foreign-words.ts';
import { parse } from '../../src/cli/parse-command-line.ts';
import { runCli } from '../../src/cli/run-cli.ts';
import { openJournal } from '../../src/journal/journal.ts';
import { program } from '../../src/program.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { accepted, baseUrl, triggered } from '../journal/records.ts';

async function refused(line: string): Promise<string> {
  const context = createMemory();
  expect(await runCli(line.split(' '), program, context)).toBe(2);
  return context.err().trim().split('\n').at(-1)?.trim() ?? '';
}

/** The command or flag that a hint offers, or the reason why there is none. */
const meaningOf = (hint: string) => hint.replace(/^\S+ /, '').replace(/^did you mean `(.*)`\?$/, '$1');

test.each([
  ['tigger nightly', 'runctl trigger nightly'],
  ['start nightly', 'runctl trigger nightly'],
  ['run nightly', 'runctl trigger nightly'],
  ['run list', 'runctl list'],
  ['run view nightly', 'runctl status nightly'],
  ['run watch nightly', 'runctl watch nightly'],
  ['run cancel nightly', 'the service has no way to cancel a run'],
  ['get runs', 'runctl list'],
  ['get all', 'runctl list'],
  ['start --now', 'runctl trigger <automation>'],
  ['rerun @last', 'runctl trigger <automation>'],
  ['logout', 'runctl config unset apiKey'],
  ['rollout status nightly', 'runctl status nightly'],
  ['system prune -f', 'records older than a year are removed automatically'],
  ['agents', 'Agents are discontinued; `runctl list` shows the runs of this machine'],
  ['prune', 'records older than a year are removed automatically'],
  ['get nightly', 'runctl status nightly'],
  ['runs', 'runctl list'],
  ['workflow run nightly', 'runctl trigger nightly'],
  ['jobs list', 'runctl list'],
  ['rerun nightly', 'runctl trigger nightly'],
  ['create run nightly', 'runctl trigger nightly'],
  ['exit-codes', 'runctl explain'],
  ['auth status', 'runctl config list'],
  ['auth login', 'runctl config'],
  ['configure list', 'runctl config list'],
  ['config current-context', 'runctl config list'],
  ['doc', 'runctl doctor'],
  ['whoami', 'runctl config list'],
  ['use-context staging', 'runctl config set profile <name>'],
  ['config use staging', 'runctl config set profile <name>'],
  ['describe run nightly', 'runctl status nightly'],
  ['get run/nightly', 'runctl status nightly'],
  ['run rerun 8868bbf2', 'runctl trigger <automation>'],
  ['submit nightly', 'runctl trigger nightly'],
  ['terminate nightly', 'the service has no way to cancel a run'],
  ['login', 'runctl config'],
  ['logs nightly', 'the service has no logs of a run; `runctl result` prints its output'],
  ['delete nightly', 'the service has no way to delete a run'],
  ['stop', 'the service has no way to cancel a run'],
  ['help tigger', 'runctl help trigger'],
  ['help ps', 'runctl help list'],
  ['help 12', 'runctl explain 12'],
  ['help run_failed', 'runctl explain run_failed'],
  ['help xyz', 'topics are flags, settings, scenarios, programs, troubleshooting, man'],
  ['config ls', 'runctl config list'],
  ['config edit', 'runctl config path'],
  ['config remove project', 'runctl config unset <key>'],
  ['config lst', 'runctl config list'],
  ['config xyzzy', 'see `runctl config --help`'],
  ['xyzzy', 'see `runctl --help`'],
])('in place of a command: `runctl %s`, %s', async (line, suggestion) => {
  expect(meaningOf(await refused(line))).toBe(suggestion);
});

test.each([
  ['trigger a --wait', '--watch'],
  ['trigger a --wait --timeout=15s', '--watch'],
  ['config --list', 'runctl config list'],
  ['trigger a -n x', '--project'],
  ['watch -n 2', '--interval'],
  ['status nightly --wait', '`runctl watch nightly` waits until the run is finished'],
  ['status --wait', '`runctl watch` waits until the run is finished'],
  ['result nightly --follow', '`runctl watch nightly` waits until the run is finished'],
  ['watch nightly --wait', '`runctl watch` follows a run to its end without a flag'],
  ['watch nightly -f', '`runctl watch` follows a run to its end without a flag'],
  ['watch --exit-status', "`runctl watch` exits with the run's code without a flag"],
  ['list -o json', '--json'],
  ['list -ojson', '--json'],
  ['list --format=json', '--json'],
  ['completion bash -o', 'it prints to standard output; use `>` to write to a file'],
  ['list --json=status,executionId', '--field status,executionId'],
  ['-vvv list', '--debug'],
  ['--context x list', '--profile'],
  ['--watch trigger nightly', 'runctl trigger --watch nightly'],
  ['trigger a --dry-run=client', '--dry-run'],
  ['trigger a --watch=true', '--watch'],
  ['trigger a --watch=false', 'leave out `--watch`'],
  ['trigger a --wait=false', 'leave out `--wait`'],
  ['trigger a -w=1', '--watch'],
  ['list -a', 'for every run, use `--limit 1000000`'],
  ['watch -a', '--all'],
  ['status --last', 'without an argument, it uses the last run: `runctl status`'],
  ['trigger a --env k=v', 'the service takes no input for a run'],
  ['trigger a --env staging', '--profile'],
  ['emulator ./nightly.sh --fast', 'put `--` before a command that has flags of its own'],
  ['trigger a -f x.yaml', 'the service takes no input for a run'],
  ['trigger a --idempotency x', '--idempotency-key'],
  ['trigger a --every 1h', 'runctl has no schedule of its own: cron or a systemd timer runs it'],
  ['trigger --version', '`runctl version` shows the version'],
  ['list -vvv', '--debug'],
  ['recover --yes', 'leave it out: runctl recover never asks'],
  ['emulator --fast', 'it has --port, --scenario, --speed, --report, --quiet and more: see `runctl emulator --help`'],
  ['trigger a -f k=v', 'the service takes no input for a run'],
  ['trigger a -f', '--watch'],
  ['watch --bell', 'it has --all and more: see `runctl watch --help`'],
  ['demo --fast', 'see `runctl demo --help`'],
  ['trigger a -t 5m', '--timeout'],
  ['trigger a --verbose', '--debug'],
  ['--verbose', '--debug'],
  ['-v', '--version'],
  ['trigger a --input x', 'the service takes no input for a run'],
  ['agent trigger a --data x', '--message'],
  ['trigger --name a', 'leave out the flag: `runctl trigger <automation>`'],
  ['trigger a --timout 5s', '--timeout'],
  ['status --all', '`runctl list` shows all runs'],
  ['config set baseUrl x --verbose', 'it has --profile and more: see `runctl config set --help`'],
])('in place of a flag: `runctl %s`, %s', async (line, suggestion) => {
  expect(meaningOf(await refused(line))).toBe(suggestion);
});

test('an API key that was given by a flag is not repeated', async () => {
  const context = createMemory();
  for (const line of ['trigger nightly --api-key sk1', 'status --token=sk1', 'sk1 --token', 'list --json=sk1']) {
    await runCli(line.split(' '), program, context);
  }
  expect(context.err().replace("unknown command 'sk1'", '')).not.toContain('sk1');
  expect(context.err()).toContain('`runctl config set apiKey` asks for it');
});

test('the name of an automation alone is not taken for a wish to start it', async () => {
  const context = createMemory({ RUNCTL_STATE_DIR: temporaryFolder(), RUNCTL_BASE_URL: baseUrl });
  const folder = context.env.RUNCTL_STATE_DIR;
  const journal = openJournal({ folder, nowMs: context.clock.nowMs, onTrouble: (what) => expect.unreachable(what) });
  for (const record of [triggered(1), accepted(1)]) journal.append(record);
  expect(await runCli(['nightly'], program, context)).toBe(2);
  expect(context.err()).toContain('`runctl status nightly` shows its last run; `runctl trigger nightly` starts one');
});

const commandsIn = ({ commands = [] }: CommandDefinition, path = ''): [string, CommandDefinition][] =>
  commands.flatMap((command) => {
    const name = `${path}${command.name}`;
    return [
      ...(command.run ? [[name, command] as [string, CommandDefinition]] : []),
      ...commandsIn(command, `${name} `),
    ];
  });
const commands = new Map(commandsIn(program));
const flagsOf = (command: CommandDefinition | undefined) =>
  new Set(['--help', ...Object.values(command?.options ?? {}).flatMap(namesOf)]);

/** Does the program take this line, which a hint offers, when it is typed? */
function isTaken(line: string): boolean {
  const [, ...words] = line
    .replace(/ [|>] .*/, '')
    .replaceAll('<time>', '1d')
    .replaceAll(/<\w+>/g, 'x')
    .split(' ');
  try {
    const parsed = parse(words, program, { write() {}, columns: () => 80 });
    if (parsed) checkNames(parsed, words, program, () => undefined);
    return true;
  } catch {
    return false;
  }
}

/** What is wrong with a hint for a command: a line that isn't taken, a flag that it lacks, or more than it asked for. */
function faultsOf(hint: string, path: string): string[] {
  const lines = hint.match(/`runctl [^`]*`/g) ?? [];
  const wrong = lines.filter((line) => !isTaken(line.slice(1, -1)));
  const bare = hint.replaceAll(/`runctl [^`]*`/g, '').match(/(?<![\w-])--?[a-z][\w-]*/g) ?? [];
  const lacking = bare.filter((flag) => !flagsOf(commands.get(path)).has(flag));
  const startsRuns = /`runctl (trigger|recover)/.test(hint) && !/trigger|recover/.test(path);
  return [...wrong, ...lacking, ...(startsRuns ? ['starts a run for somebody who looks'] : [])];
}

test.each([...commands].filter(([path]) => path !== 'help'))(
  'no flag that a hint for `runctl %s` names is one that is not there',
  async (path, command) => {
    const args = Object.values(command.arguments ?? {}).filter(({ form }) => form.startsWith('<'));
    const rows = flagWords.map(([words]) => words.split(' ').filter((word) => !flagsOf(command).has(word)));
    const listed = rows.flat();
    // The words of a row have one answer, but for those that stand in several rows.
    const typed = new Set([
      ...rows.map(([first]) => first),
      ...listed.filter((word, at) => listed.indexOf(word) !== at),
    ]);
    for (const word of typed) {
      if (word === undefined) continue;
      const line = [path, ...args.map(({ choices }) => choices?.[0] ?? 'x'), word].join(' ');
      expect([line, ...faultsOf(await refused(line), path)]).toEqual([line]);
    }
  },
);

test('no hint for a word in place of a command names a command that is not there', async () => {
  const words = [commandWords, configWords, impossibleWords].flatMap((meanings) =>
    Object.values(meanings).flatMap((listed) => listed.split(' ')),
  );
  const asks = new Set(`${commandWords.trigger} schedule cron every enable disable run`.split(' '));
  for (const word of [...words, ...runWords.split(' ')].filter((each) => !commands.has(each) && each !== 'ls')) {
    const hint = await refused(word);
    const faults = faultsOf(hint, asks.has(word) ? 'trigger' : '');
    expect([word, hint, ...faults]).toEqual([word, hint]);
  }
});
