import { nearest } from '../problems/nearest.ts';

/** What people type who come from other programs, and the command that does it here. */
const commandsElsewhere: Record<string, string> = {
  run: 'trigger',
  start: 'trigger',
  dispatch: 'trigger',
  follow: 'watch',
  wait: 'watch',
  attach: 'watch',
  get: 'status',
  show: 'status',
  describe: 'status',
  view: 'status',
  output: 'result',
  ps: 'list',
  runs: 'list',
  history: 'list',
  login: 'config',
  auth: 'config',
  configure: 'config',
  init: 'config',
  setup: 'config',
};

/** What they expect, and the service cannot do. */
const impossible: Record<string, string> = {
  cancel: 'the service has no way to cancel a run',
  stop: 'the service has no way to cancel a run',
  kill: 'the service has no way to cancel a run',
  logs: 'the service has no logs of a run; `runctl result` prints its output',
  log: 'the service has no logs of a run; `runctl result` prints its output',
  tail: 'the service has no logs of a run; `runctl result` prints its output',
};

/** The flags of other programs, and what they are called here. */
const flagsElsewhere: Record<string, string> = {
  '--wait': '--watch',
  '--follow': '--watch',
  '-o': '--json',
  '--output': '--json',
  '--format': '--json',
  '--jq': '--field',
  '-v': '--version',
  '--dryrun': '--dry-run',
  '-L': '--limit',
};

const own = <T>(table: Record<string, T>, key: string) => (Object.hasOwn(table, key) ? table[key] : undefined);

/** What to say of a command that does not exist; undefined where nobody can guess what was meant. */
export function aboutCommand(typed: string, names: readonly string[]): string | undefined {
  const meant = own(commandsElsewhere, typed) ?? nearest(typed, names);
  return own(impossible, typed) ?? (meant && `did you mean \`runctl ${meant}\`?`);
}

/** The flag that was meant; undefined where nobody can guess. */
export const flagMeantBy = (typed: string): string | undefined => own(flagsElsewhere, typed);
