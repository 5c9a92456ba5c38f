import { nearest } from '../problems/nearest.ts';

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

const impossible: Record<string, string> = {
  cancel: 'the service has no way to cancel a run',
  stop: 'the service has no way to cancel a run',
  kill: 'the service has no way to cancel a run',
  logs: 'the service has no logs of a run; `runctl result` prints its output',
  log: 'the service has no logs of a run; `runctl result` prints its output',
  tail: 'the service has no logs of a run; `runctl result` prints its output',
  open: 'runctl knows no web page of a run; `runctl status` shows how it stands',
  update: 'update runctl as you installed it, with npm or from a checkout',
  upgrade: 'update runctl as you installed it, with npm or from a checkout',
  'self-update': 'update runctl as you installed it, with npm or from a checkout',
};

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

export function aboutCommand(typed: string, names: readonly string[]): string | undefined {
  const meant = own(commandsElsewhere, typed) ?? nearest(typed, names);
  return own(impossible, typed) ?? (meant && `did you mean \`runctl ${meant}\`?`);
}

export const flagMeantBy = (typed: string): string | undefined => own(flagsElsewhere, typed);
