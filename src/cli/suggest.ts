import { nearest } from '../problems/nearest.ts';

/** Maps each of the words to the meaning that they are listed under. */
function byWord(meanings: Record<string, string>): Map<string, string> {
  const pairs = Object.entries(meanings).flatMap(([meant, words]) => words.split(' ').map((word) => [word, meant]));
  return new Map(pairs as [string, string][]);
}

const commandsElsewhere = byWord({
  trigger: 'run start dispatch rerun retry restart',
  watch: 'follow wait attach',
  status: 'get show describe view',
  result: 'output',
  list: 'ps runs history',
  config: 'login auth configure init setup',
  'config list': 'settings profiles env whoami',
  help: 'man',
});

const configElsewhere = byWord({
  'config list': 'show view',
  'config path': 'edit open',
  'config unset': 'remove delete rm',
});

const impossible = byWord({
  'the service has no way to cancel a run': 'cancel stop kill',
  'the service has no way to delete a run': 'delete remove rm',
  'the service has no logs of a run; `runctl result` prints its output': 'logs log tail',
  'runctl knows no web page of a run; `runctl status` shows how it stands': 'open',
  'update runctl as you installed it, with npm or from a checkout': 'update upgrade self-update',
});

const flagsElsewhere = byWord({
  '--watch': '--wait --follow',
  '--json': '-o --output --format',
  '--field': '--jq',
  '--version': '-v',
  '--dry-run': '--dryrun',
  '--limit': '-L',
});

const flagsOfCommands = new Map([
  ['list --all', '`runctl list --limit 1000000` shows every run of the journal'],
  ['status --all', 'did you mean `runctl list`?'],
  ['watch -f', '`runctl watch` follows a run to its end without a flag'],
]);

const impossibleFlags = byWord({
  'the service takes no input for a run': '--input --inputs --data',
  'a name is given without a flag: `runctl trigger <automation>`': '--name',
});

/** A hint for an unknown command. `next` is the word after it, since gh has `run list`. */
export function aboutCommand(typed: string, names: readonly string[], next?: string): string | undefined {
  const inner = typed === 'run' ? names.find((name) => name === next) : undefined;
  const meant = inner ?? commandsElsewhere.get(typed) ?? nearest(typed, names);
  return impossible.get(typed) ?? (meant && `did you mean \`runctl ${meant}\`?`);
}

export function aboutConfigCommand(typed: string, names: readonly string[]): string | undefined {
  const near = nearest(typed, names);
  const meant = configElsewhere.get(typed) ?? (near && `config ${near}`);
  return meant && `did you mean \`runctl ${meant}\`?`;
}

export function aboutFlag(typed: string, similar: string | undefined, command?: string): string | undefined {
  const known = flagsOfCommands.get(`${command} ${typed}`) ?? impossibleFlags.get(typed);
  const meant = flagsElsewhere.get(typed) ?? similar;
  return known ?? (meant && `did you mean \`${meant}\`?`);
}
