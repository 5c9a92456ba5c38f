import { expect, test } from 'vitest';
import { placeFlagsOf } from '../../src/cli/place-flags.ts';

test.each([
  [['status'], ''],
  [['status', '--profile', 'staging'], ' --profile staging'],
  [['status', '--profile=staging', '--json'], ' --profile staging'],
  [['status', '--base-url', 'https://a.example/x y'], " --base-url 'https://a.example/x y'"],
  [['status', '--profile', "o'b", '--base-url=https://b.example'], " --profile 'o'\\''b' --base-url https://b.example"],
  [['status', '-p', 'x', '--json'], ' -p x'],
  [['status', '--project=x'], ' --project x'],
  [['emulator', '--', 'runctl', '--profile', 'x'], ''],
  [['status', '--profile'], ''],
])('of %j a command to type next needs "%s"', (argv, flags) => {
  expect(placeFlagsOf(argv)).toBe(flags);
});
