// The words that people carry over from gh, kubectl, docker, aws, curl and others. Data for suggest.ts, which offers a flag
// only to a command that has it.

/** Words that are typed instead of a command, by the intended command line. */
export const commandWords: Readonly<Record<string, string>> = {
  trigger: 'start dispatch rerun retry restart submit invoke execute launch create trigger-run',
  watch: 'follow wait attach resume continue monitor poll await',
  'watch --all': 'wait-all top',
  status: 'get show describe view inspect info state stat st last latest is-active is-failed',
  result: 'output outputs download fetch retrieve artifact artifacts error errors why summary',
  list: 'ps runs jobs executions search list-units status-all',
  history: 'events journal journalctl audit audit-log',
  stats: 'metrics report cost costs credits',
  config: 'login auth configure init setup logout signin',
  'config list': 'settings profile profiles context contexts env whoami me account',
  'config set profile': 'use use-context switch',
  'config set apiKey': 'token key api-key apikey',
  'config set': 'set',
  'config unset': 'unset',
  doctor: 'check-config diagnose ping health healthcheck check-health debug test selftest validate verify',
  emulator: 'mock mock-server serve server simulate',
  demo: 'tour tutorial quickstart example examples',
  completion: 'autocomplete',
  explain: 'codes exit-codes',
  help: 'man usage docs ? /?',
};

/** Words for runs, before a verb: `run list` of gh, `get jobs` of kubectl. */
export const runWords =
  'run runs job jobs execution executions workflow workflows automation automations task tasks pipeline pipelines build builds all';

/** The verbs that follow such a word. A verb that starts something is asked for by name, all others only look. */
export const runVerbs: Readonly<Record<string, string>> = {
  list: 'list ls ps search',
  watch: 'watch follow wait attach',
  status: 'view show get describe status inspect',
  result: 'download result output',
  trigger: 'start run trigger create dispatch rerun retry execute',
};

export const configWords: Readonly<Record<string, string>> = {
  'config list': 'show view ls dump export status get-contexts current-context profiles profile',
  'config set profile': 'use use-context set-context set-profile switch select',
  'config path': 'edit open file where location',
  'config unset': 'remove delete rm clear',
  config: 'init setup new add create login',
  doctor: 'test validate verify check',
};

/** What cannot be had at all, by the reason. */
export const impossibleWords: Readonly<Record<string, string>> = {
  'the service has no way to cancel a run': 'cancel stop kill abort terminate pause suspend',
  'the service has no way to delete a run': 'delete remove rm prune',
  'the service has no logs of a run; `runctl result` prints its output': 'logs log tail',
  'runs have no web page; `runctl status` shows how a run is doing': 'open browse web',
  'runctl has no schedule of its own: cron or a systemd timer runs `runctl trigger`':
    'schedule cron every enable disable',
  'update runctl as you installed it, with npm or from a checkout': 'update upgrade self-update',
};

/**
 * An answer to a flag: a flag of ours, offered to the commands that have it, or a sentence. `of` names the commands that a
 * sentence is for, without it, it is for all that are left; `valueHas` is what the word after the flag must hold. `{run}` stands for the argument that was typed,
 * `{command}` for the command.
 */
export type FlagAnswer = `--${string}` | { of?: string; valueHas?: string; say: string };

const looks = 'status result stats check doctor';

export const flagWords: readonly (readonly [flags: string, answers: readonly FlagAnswer[]])[] = [
  [
    '--wait --follow --watch --sync --block --until-done --wait-for-completion --stream --live -w -f',
    [
      { of: 'trigger', valueHas: '.', say: 'the service takes no input for a run' },
      { of: 'trigger', valueHas: '=', say: 'the service takes no input for a run' },
      { of: 'watch', say: '`runctl watch` follows a run to its end without a flag' },
      '--watch',
      { of: 'status result', say: '`runctl watch {run}` waits until the run is finished' },
      { of: 'list stats history', say: '`runctl watch --follow` follows every run of this machine' },
      { of: 'recover', say: 'it waits without a flag' },
      { of: 'check', say: 'it returns at once; `runctl watch` waits' },
    ],
  ],
  [
    '-o --output --format --out --save --download',
    [
      { of: 'result', say: 'the output goes to standard output: `runctl result {run} --quiet > <file>`, or `--json`' },
      '--json',
      { say: 'it prints to standard output; use `>` to write to a file' },
    ],
  ],
  ['--csv --tsv --table --yaml --pretty', ['--json']],
  [
    '--raw --output-only --plain --text',
    [{ of: 'result', say: '`--quiet` prints the output alone, and `--field` one value' }],
  ],
  ['--error --errors', [{ of: 'result', say: '`--field error` prints it' }]],
  ['--print-id --id-only', [{ of: 'trigger', say: 'the id is all that it prints on standard output' }]],
  [
    '--jq --query --template --columns --fields --no-trunc --no-truncate --full-ids',
    ['--field', { say: 'it prints no JSON' }],
  ],
  ['-v', ['--version', '--debug']],
  ['--verbose -vv --trace --log-level', ['--debug']],
  [
    '--api-key --token --key --auth-token --password --access-token --secret -H --header -u --user',
    [
      {
        say: 'no flag takes the API key itself, since every user of this machine could read it: `runctl config set apiKey` asks for it, or reads it from a pipe',
      },
    ],
  ],
  ['--url --host --endpoint --endpoint-url --server --api-url', ['--base-url']],
  [
    '--context --kubeconfig --config --env --environment -e',
    [{ of: 'trigger', valueHas: '=', say: 'the service takes no input for a run' }, '--profile'],
  ],
  ['--namespace --org --workspace --repo -R', ['--project']],
  [
    '--name --automation --id --run --run-id --execution-id --workflow',
    [
      { of: 'trigger', say: 'a name is given without a flag: `runctl trigger <automation>`' },
      { of: 'list stats check', say: 'a name is given without a flag, after the command' },
      { of: 'status result watch', say: 'a run is given without a flag, after the command' },
      { of: 'recover', say: 'it resolves every trigger whose response was lost' },
    ],
  ],
  [
    '--input --inputs --data -F --raw-field --field-file --param --params --parameter --parameters --var --arg --body --payload --file --ref --branch --set --tag --label',
    [{ of: 'trigger', say: 'the service takes no input for a run' }, '--message'],
  ],
  [
    '--retry --retries --max-retries --max-attempts --attempts --retry-delay --retry-max-time',
    [
      {
        of: 'trigger',
        say: 'requests are retried for `--give-up-after`; `--rerun-on` starts a new run after one that failed',
      },
      {
        of: 'status result watch recover',
        say: 'requests are retried anyway; `--give-up-after` says for how long',
      },
    ],
  ],
  ['-d', [{ of: 'trigger', say: 'the service takes no input for a run. Without `--watch`, trigger returns at once' }]],
  ['--retry-on-failure', ['--rerun-on']],
  [
    '--max-time -m --wait-timeout --watch-timeout --max-wait --deadline -t',
    ['--timeout', '--give-up-after', '--request-timeout'],
  ],
  ['--connect-timeout --read-timeout', ['--request-timeout']],
  ['--poll-interval --every --poll --period --refresh --sleep', ['--interval', '--within']],
  [
    '-l -L --max --count --max-items --page-size --per-page --page --offset --tail --head --limit -n',
    ['--limit', { of: 'history', say: '`runctl history | tail` shows the last lines' }, '--since'],
  ],
  [
    '--last --latest',
    ['--limit', { of: 'status result watch', say: 'without an argument, it uses the last run: `runctl {command}`' }],
  ],
  [
    '--days --hours --ago --today --yesterday --last --from --after --start-time --period --window --max-age --older-than --age',
    ['--since', '--within'],
  ],
  [
    '--since',
    ['--within', { of: 'status result watch', say: '`runctl list --since <time>` shows runs by their time' }],
  ],
  [
    '--until --to --before --end-time',
    [{ of: 'list stats', say: '`--since` is the only limit; narrow the rest with `--json` and jq' }],
  ],
  [
    '--all --all-projects --all-namespaces -A -a',
    [
      '--all',
      { of: 'list', say: 'for every run, use `--limit 1000000`' },
      { of: 'status result', say: '`runctl list` shows all runs' },
      { of: 'recover stats history', say: 'without a name it covers all automations' },
      { of: 'check', say: 'give each automation by name' },
      { of: 'trigger', say: 'give each automation by name' },
      { of: 'explain', say: 'without a code it lists all' },
    ],
  ],
  ['--state --filter --conclusion -s', ['--status', '--quiet']],
  ['--failed --failures', [{ of: 'list', say: '`--status FAILED` lists them' }]],
  ['--running --active --unfinished --pending', ['--all', { of: 'list', say: '`--status RUNNING` lists them' }]],
  ['--stop-on-failure --exit-on-failure --fail-first', ['--fail-fast']],
  [
    '--yes -y --force --no-input --non-interactive --assume-yes --batch',
    ['--yes', { say: 'it never asks for confirmation' }],
  ],
  ['--silent --no-progress --progress --no-verbose', ['--quiet']],
  [
    '--dryrun --preview --simulate --what-if --plan --noop',
    ['--dry-run', { say: 'it changes nothing on the service' }],
  ],
  [
    '--exit-status --exit-code --fail --fail-on-error --check',
    [
      { of: 'watch', say: "`runctl watch` exits with the run's code without a flag" },
      { of: 'result', say: "`runctl status {run} --exit-status` exits with the run's code" },
      { of: 'trigger', say: "`--watch` exits with the run's code" },
      { of: 'check', say: 'it exits with 15 if an automation is overdue' },
    ],
  ],
  [
    '--insecure -k --cacert --ca-cert --no-verify-ssl --no-check-certificate',
    [{ say: 'certificates are always checked; NODE_EXTRA_CA_CERTS names a file of more authorities to trust' }],
  ],
  ['--proxy -x', [{ say: 'HTTPS_PROXY names the proxy' }]],
  [
    '--no-wait --detach --async --background --no-watch --no-follow',
    [
      { of: 'trigger', say: 'leave it out: without `--watch`, trigger returns at once' },
      { of: 'watch', say: '`runctl status {run}` shows the status and returns at once' },
      { of: looks, say: "it doesn't wait" },
    ],
  ],
  [
    '--sequential --serial',
    [{ of: 'trigger', say: 'runs are parallel; for one after another, join commands with `&&`' }],
  ],
  ['-j', [{ of: 'trigger watch', say: 'runs are always parallel; `--rate` limits the requests per second' }, '--json']],
  [
    '--concurrency --parallel -P --jobs --max-parallel',
    [{ of: 'trigger watch', say: 'runs are always parallel; `--rate` limits the requests per second' }],
  ],
  ['--schedule --cron --at', [{ say: 'runctl has no schedule of its own: cron or a systemd timer runs it' }]],
  ['--delay --jitter --random-delay', ['--splay', '--interval']],
  [
    '--cancel --kill --cancel-on-timeout --cancel-in-progress --stop',
    [{ say: 'the service has no way to cancel a run' }],
  ],
  [
    '--log --logs --show-logs --log-failed',
    [{ say: 'the service has no logs of a run; `runctl result` prints its output' }],
  ],
  [
    '--list -l',
    [
      { of: 'config', say: '`runctl config list` shows the settings' },
      { of: 'emulator', say: '`runctl help scenarios` lists the scenarios' },
      { of: 'recover', say: '`--dry-run` shows them' },
    ],
  ],
  ['--shell', [{ of: 'completion', say: 'the shell is given without a flag: `runctl completion <shell>`' }]],
  ['--web --browser --open', [{ say: 'runs have no web page; `runctl status` shows how a run is doing' }]],
  [
    '--sort --sort-by --order --reverse',
    [{ of: 'list', say: 'the newest run comes first; for another order, use `--json` and jq' }],
  ],
  ['--color --colour --colors', [{ say: 'FORCE_COLOR turns colors on, and `--no-color` turns them off' }]],
  ['--no-header --no-headers --no-headings --wide', ['--field']],
  ['--idempotent --unique --idem-key --key-id --client-token --request-id', ['--idempotency-key']],
  ['--once', [{ of: 'watch', say: '`runctl status {run}` shows the status once' }, '--idempotency-key']],
  ['--skip-if-running --if-not-running --if-running --skip --no-overlap --queue', ['--if-active']],
  ['--on-failure --on-success --notify --hook --exec --then', ['--on-final', '--on-exit']],
];
