import { expect, test } from 'vitest';
import { parse } from '../../src/cli/parse-command-line.ts';
import { connectionFlags } from '../../src/cli/run-cli.ts';
import { program } from '../../src/program.ts';

test.each([
  [['status'], ''],
  [['status', '--profile', 'staging'], ' --profile staging'],
  [['status', '--profile=staging', '--json'], ' --profile staging'],
  [['status', '--base-url', 'https://a.example/x y'], " --base-url 'https://a.example/x y'"],
  [['status', '--profile', "o'b", '--base-url=https://b.example'], " --base-url https://b.example --profile 'o'\\''b'"],
  [['status', '-p', 'x', '--json'], ' --project x'],
  [['status', '--project=x'], ' --project x'],
  [['config', '--profile', 'x', 'list'], ' --profile x'],
  [['emulator', '--', 'runctl', '--profile', 'x'], ''],
])('the commands that a hint suggests after %j get the flags "%s"', (argv, flags) => {
  const typed = parse(argv, program, { columns: () => 80, write() {} });
  expect(connectionFlags(typed?.options ?? {})).toBe(flags);
});
