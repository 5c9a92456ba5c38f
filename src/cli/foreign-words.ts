// What somebody types in the first hour who comes from gh, kubectl, docker or curl, and what the service can't do. Data for
// suggest.ts, which offers a flag only to a command that has it. Every other word gets the nearest one of ours.

/** Words that are typed instead of a command, by the intended command line. */
export const commandWords: Readonly<Record<string, string>> = {
  trigger: 'start restart dispatch submit rerun resubmit retry create',
  watch: 'follow wait resume',
  status: 'get show describe view inspect',
  result: 'output download',
  list: 'ps ls runs jobs',
  config: 'login auth configure init',
  'config unset apiKey': 'logout',
  'config list': 'profiles context whoami',
  'config set profile <name>': 'use-context',
  doctor: 'ping health',
  explain: 'exit-codes',
  emulator: 'mock serve',
  help: 'man usage',
};

/** Words for runs, beside one of those: `run list` of gh, `get jobs` of kubectl. */
export const runWords = 'run runs job jobs workflow workflows automation automations all';

export const configWords: Readonly<Record<string, string>> = {
  'config list': 'show view ls status get-contexts current-context',
  'config set profile <name>': 'use use-context use-profile set-context switch',
  'config path': 'edit open',
  'config unset <key>': 'remove delete rm clear',
};

/** What cannot be had at all, by the reason. */
export const impossibleWords: Readonly<Record<string, string>> = {
  'the service has no way to cancel a run': 'cancel stop kill abort terminate suspend pause',
  'the service has no way to delete a run': 'delete remove rm',
  'the service has no logs of a run; `runctl result` prints its output': 'logs log',
  'runs have no web page; `runctl status` shows how a run is doing': 'open browse web',
  'runctl has no schedule of its own: cron or a systemd timer runs it': 'schedule cron every enable disable',
  'Agents are discontinued; `runctl list` shows the runs of this machine': 'agents',
  'records older than a year are removed automatically': 'prune clean forget',
  'update runctl as you installed it, with npm or from a checkout': 'update upgrade',
};

/**
 * The answers to a flag: a flag of ours, offered to the commands that have it, or a sentence. In brackets are the commands
 * that a sentence is for, and what the word after the flag must hold; without them, it is for all that are left. `{run}` stands
 * for the argument that was typed, `{command}` for the command. The words for what can't be had are flags, too.
 */
// biome-ignore format: a table
export const flagWords: readonly (readonly [flags: string, ...answers: string[]])[] = [
  ['--wait --wait-for --follow --watch -w -f', '[trigger .] the service takes no input for a run', '[trigger =] the service takes no input for a run',
    '[watch] `runctl watch` follows a run to its end without a flag', '--watch',
    '[status result] `runctl watch {run}` waits until the run is finished'],
  ['-o --output --format', '[result] the output goes to standard output: `runctl result {run} --quiet > <file>`, or `--json`', '--json',
    'it prints to standard output; use `>` to write to a file'],
  ['--jq --query --template', '--field', 'it prints no JSON'],
  ['-v', '--version', '--debug'],
  ['--version -V', '`runctl version` shows the version'],
  ['--verbose', '--debug'],
  ['--api-key --token --key --password -H --header -u --user', 'no flag takes the API key itself, since every user of this machine '
    + 'could read it: `runctl config set apiKey` asks for it, or reads it from a pipe'],
  ['--url --host --endpoint', '--base-url'],
  ['--context --env -e', '[trigger =] the service takes no input for a run', '--profile'],

  ['--name --automation --id --run --run-id --workflow', '[trigger] leave out the flag: `runctl trigger <automation>`',
    '[list] leave out the flag: the name alone follows the command',
    '[status result watch] leave out the flag: `runctl {command} <run>`'],
  ['--input --inputs --data -F --raw-field --param --var --arg --body --ref --set', '[trigger] the service takes no input for a run', '--message'],
  ['-d', '[trigger] the service takes no input for a run. Without `--watch`, trigger returns at once'],
  ['--retry --retries', '[trigger] requests are retried for `--give-up-after`',
    '[status result watch recover] requests are retried anyway; `--give-up-after` says for how long'],
  ['--max-time -m --wait-timeout -t', '--timeout', '--give-up-after', '--request-timeout'],
  ['--poll-interval -i', '--interval'],
  ['-l -L --max --tail --limit -n', '--limit'],
  ['--namespace --repo -R -n', '[watch] did you mean `--interval`?', '--project'],
  ['--last --latest', '--limit', '[status result watch] without an argument, it uses the last run: `runctl {command}`'],
  ['--from --after --age', '--since'],
  ['--since', '[status result watch] `runctl list --since <time>` shows runs by their time'],
  ['--all --all-namespaces -A -a', '--all', '[list] for every run, use `--limit 1000000`', '[status result] `runctl list` shows all runs',
    '[recover] without a name it covers all automations', '[trigger] give each automation by name'],
  ['--state --filter -s', '--status', '--quiet'],
  ['--failed', '[list] `--status FAILED` lists them'],
  ['--yes -y --force', '--yes', 'leave it out: runctl {command} never asks'],
  ['--silent', '--quiet'],
  ['--exit-status --exit-code --fail', "[watch] `runctl watch` exits with the run's code without a flag",
    "[result] `runctl status {run} --exit-status` exits with the run's code", "[trigger] `--watch` exits with the run's code"],
  ['--insecure -k --cacert', 'certificates are always verified; to trust another authority, put its file in NODE_EXTRA_CA_CERTS'],
  ['--proxy -x', 'HTTPS_PROXY names the proxy'],
  ['--no-wait --detach --async', '[trigger] leave it out: without `--watch`, trigger returns at once',
    '[watch] `runctl status {run}` shows the status and returns at once'],
  ['--parallel -P --concurrency -j', '[trigger watch] several are always handled at once; `--rate` limits the requests per second'],
  ['--color', 'FORCE_COLOR turns colors on, and `--no-color` turns them off'],
  ['--no-headers', '--field'],
];
