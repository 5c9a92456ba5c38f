// What somebody types in the first hour who comes from gh, kubectl, docker or curl, and what the service can't do. Data for
// suggest.ts, which offers a flag only to a command that has it. Every other word gets the nearest one of ours.

/** Words that are typed instead of a command, by the intended command line. */
export const commandWords: Readonly<Record<string, string>> = {
  trigger: 'start dispatch rerun retry create',
  watch: 'follow wait attach',
  'watch --follow': 'daemon',
  status: 'get show describe view inspect',
  result: 'output download',
  list: 'ps runs jobs',
  history: 'events',
  config: 'login auth configure init',
  'config unset apiKey': 'logout',
  'config list': 'profiles context whoami',
  'config set profile': 'use-context',
  doctor: 'ping health',
  explain: 'exit-codes',
  emulator: 'mock serve',
  help: 'man usage',
};

/** Words for runs, before a verb: `run list` of gh, `get jobs` of kubectl. */
export const runWords = 'run runs job jobs workflow workflows automation automations';

/** The verbs that follow such a word. A verb that starts something is asked for by name, all others only look. */
export const runVerbs: Readonly<Record<string, string>> = {
  list: 'list ls ps',
  watch: 'watch follow wait attach',
  status: 'view show get describe status inspect',
  result: 'download result',
  trigger: 'start run trigger create rerun',
};

export const configWords: Readonly<Record<string, string>> = {
  'config list': 'show view ls status get-contexts current-context',
  'config set profile': 'use use-context set-context switch',
  'config path': 'edit open',
  'config unset': 'remove delete rm clear',
};

/** What cannot be had at all, by the reason. */
export const impossibleWords: Readonly<Record<string, string>> = {
  'the service has no way to cancel a run': 'cancel stop kill abort',
  'the service has no way to delete a run': 'delete remove rm',
  'the service has no logs of a run; `runctl result` prints its output': 'logs log',
  'runs have no web page; `runctl status` shows how a run is doing': 'open browse',
  'runctl has no schedule of its own: cron or a systemd timer runs `runctl trigger <automation>`':
    'schedule cron enable disable',
  'records older than a year are removed by themselves': 'prune clean forget',
  'update runctl as you installed it, with npm or from a checkout': 'update upgrade',
};

/**
 * An answer to a flag: a flag of ours, offered to the commands that have it, or a sentence. `of` names the commands that a
 * sentence is for. Without it, it is for all that are left. `valueHas` is what the word after the flag must hold. `{run}`
 * stands for the argument that was typed, `{command}` for the command.
 */
export type FlagAnswer = `--${string}` | { of?: string; valueHas?: string; say: string };

export const flagWords: readonly (readonly [flags: string, answers: readonly FlagAnswer[]])[] = [
  [
    '--wait --follow --watch -w -f',
    [
      { of: 'trigger', valueHas: '.', say: 'the service takes no input for a run' },
      { of: 'trigger', valueHas: '=', say: 'the service takes no input for a run' },
      { of: 'watch', say: '`runctl watch` follows a run to its end without a flag' },
      '--watch',
      { of: 'status result', say: '`runctl watch {run}` waits until the run is finished' },
      { of: 'list stats history', say: '`runctl watch --follow` follows every run of this machine' },
    ],
  ],
  [
    '-o --output --format',
    [
      { of: 'result', say: 'the output goes to standard output: `runctl result {run} --quiet > <file>`, or `--json`' },
      '--json',
      { say: 'it prints to standard output; use `>` to write to a file' },
    ],
  ],
  ['--jq --query --template', ['--field', { say: 'it prints no JSON' }]],
  ['-v', ['--version', '--debug']],
  ['--version -V', [{ say: '`runctl version` shows the version' }]],
  ['--verbose', ['--debug']],
  [
    '--api-key --token --key --password -H --header -u --user',
    [
      {
        say: 'no flag takes the API key itself, since every user of this machine could read it: `runctl config set apiKey` asks for it, or reads it from a pipe',
      },
    ],
  ],
  ['--url --host --endpoint', ['--base-url']],
  ['--context --env -e', [{ of: 'trigger', valueHas: '=', say: 'the service takes no input for a run' }, '--profile']],
  ['--namespace --repo -R', ['--project']],
  [
    '--name --automation --id --run --run-id --workflow',
    [
      { of: 'trigger', say: 'leave out the flag: `runctl trigger <automation>`' },
      { of: 'list stats check', say: 'leave out the flag: the name alone follows the command' },
      { of: 'status result watch', say: 'leave out the flag: `runctl {command} <run>`' },
    ],
  ],
  [
    '--input --inputs --data -F --raw-field --param --var --arg --body --ref --set',
    [{ of: 'trigger', say: 'the service takes no input for a run' }, '--message'],
  ],
  ['-d', [{ of: 'trigger', say: 'the service takes no input for a run. Without `--watch`, trigger returns at once' }]],
  [
    '--retry --retries',
    [
      {
        of: 'trigger',
        say: 'requests are retried for `--give-up-after`; `--rerun-on` starts a new run after one that failed',
      },
      { of: 'status result watch recover', say: 'requests are retried anyway; `--give-up-after` says for how long' },
    ],
  ],
  ['--max-time -m --wait-timeout -t', ['--timeout', '--give-up-after', '--request-timeout']],
  ['--poll-interval', ['--interval']],
  [
    '-l -L --max --tail --limit -n',
    ['--limit', { of: 'history', say: '`runctl history | tail` shows the last lines' }],
  ],
  [
    '--last --latest',
    ['--limit', { of: 'status result watch', say: 'without an argument, it uses the last run: `runctl {command}`' }],
  ],
  ['--from --after --age', ['--since', '--within']],
  ['--before', ['--until']],
  [
    '--since',
    ['--within', { of: 'status result watch', say: '`runctl list --since <time>` shows runs by their time' }],
  ],
  [
    '--all -A -a',
    [
      '--all',
      { of: 'list', say: 'for every run, use `--limit 1000000`' },
      { of: 'status result', say: '`runctl list` shows all runs' },
      { of: 'recover stats history', say: 'without a name it covers all automations' },
      { of: 'trigger check', say: 'give each automation by name' },
    ],
  ],
  ['--state --filter -s', ['--status', '--quiet']],
  ['--failed', [{ of: 'list', say: '`--status FAILED` lists them' }]],
  ['--yes -y --force', ['--yes', { say: 'leave it out: runctl never asks' }]],
  ['--silent', ['--quiet']],
  [
    '--exit-status --exit-code --fail',
    [
      { of: 'watch', say: "`runctl watch` exits with the run's code without a flag" },
      { of: 'result', say: "`runctl status {run} --exit-status` exits with the run's code" },
      { of: 'trigger', say: "`--watch` exits with the run's code" },
    ],
  ],
  [
    '--insecure -k --cacert',
    [
      {
        say: 'certificates are always verified; to trust another authority, put its file in NODE_EXTRA_CA_CERTS',
      },
    ],
  ],
  ['--proxy -x', [{ say: 'HTTPS_PROXY names the proxy' }]],
  [
    '--no-wait --detach --async',
    [
      { of: 'trigger', say: 'leave it out: without `--watch`, trigger returns at once' },
      { of: 'watch', say: '`runctl status {run}` shows the status and returns at once' },
    ],
  ],
  [
    '--parallel -P --concurrency -j',
    [{ of: 'trigger watch', say: 'runs are always parallel; `--rate` limits the requests per second' }],
  ],
  [
    '--every --schedule --cron',
    ['--within', { say: 'runctl has no schedule of its own: cron or a systemd timer runs it' }],
  ],
  ['--cancel --kill --stop', [{ say: 'the service has no way to cancel a run' }]],
  ['--log --logs', [{ say: 'the service has no logs of a run; `runctl result` prints its output' }]],
  ['--web', [{ say: 'runs have no web page; `runctl status` shows how a run is doing' }]],
  ['--color', [{ say: 'FORCE_COLOR turns colors on, and `--no-color` turns them off' }]],
  ['--no-headers', ['--field']],
];
