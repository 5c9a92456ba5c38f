/** What one would type, and why. Shown by `--help` and the man page; a test runs each command line through the parser. */
export type Example = readonly [command: string, about: string];

/** By command; '' is runctl itself. */
export const examples: Readonly<Record<string, readonly Example[]>> = {
  '': [
    ['runctl config', 'asks for the address, the key and the project'],
    ['runctl trigger nightly --watch', 'starts a run and follows it to its end'],
    ['runctl watch', 'follows the last run, also after Ctrl-C'],
    ['runctl result --field output', 'what it said, for a script'],
  ],
  trigger: [
    ['id=$(runctl trigger nightly)', 'starts a run and keeps its id'],
    ['runctl trigger nightly --watch', 'starts a run and ends with its exit code'],
    ['runctl trigger a b c --watch', 'three runs side by side'],
    ['runctl trigger nightly --if-active skip', 'all is well where it is running already'],
    ['runctl trigger nightly --idempotency-key "nightly-$(date +%F)"', 'one run a day, however often it is typed'],
    ['runctl trigger nightly --watch --rerun-on lease_lost,reaped', 'again, if its environment was lost'],
  ],
  status: [
    ['runctl status', 'of the last run'],
    ['runctl status nightly@last --field status', 'the bare state, for a script'],
    ['runctl status --exit-status', 'ends with the code of the run, 124 while it is going'],
  ],
  result: [
    ['runctl result', 'of the last run'],
    ['runctl result nightly@last --field output > report.txt', 'the output, byte for byte'],
    ['runctl result --json', 'all that the service said'],
  ],
  watch: [
    ['runctl watch', 'the last run'],
    ['runctl watch nightly@last weekly@last', 'two of them on one board'],
    ['runctl watch --all', 'every run that has not ended'],
    ['runctl watch --timeout 10m --quiet', 'silent unless something is wrong; 124 after ten minutes'],
    ['runctl watch --on-final \'notify-send runctl "$RUNCTL_STATUS"\'', 'a command of your own when it has ended'],
  ],
  list: [
    ['runctl list', 'the last twenty runs'],
    ['runctl list --state FAILED --automation nightly', 'those that failed'],
    ['runctl list --limit 1000 --json', 'for a script'],
  ],
  recover: [
    ['runctl recover --dry-run', 'what is open'],
    ['runctl recover', 'settles it'],
  ],
  config: [
    ['runctl config', 'asks for all that is needed and checks it'],
    ['runctl config set apiKey < key.txt', 'the key from a file: never on a command line'],
    ['runctl config set baseUrl https://staging.example.com --profile staging', 'another profile'],
    ['runctl config list', 'what is in force, and where it comes from'],
  ],
  emulator: [
    ['runctl emulator', 'prints the lines that point a shell at it'],
    ['runctl emulator --scenario bad-day --speed 60', 'a bad day, an hour a minute'],
    ['runctl emulator --scenario bad-day --speed 1200 -- ./nightly.sh', 'a script against it, and its exit code'],
  ],
  explain: [
    ['runctl explain', 'all exit codes'],
    ['runctl explain 12', 'one of them, and what to do'],
  ],
  completion: [
    ['eval "$(runctl completion bash)"', 'in ~/.bashrc'],
    ['source <(runctl completion zsh)', 'in ~/.zshrc'],
    ['runctl completion fish | source', 'in ~/.config/fish/config.fish'],
    ['runctl completion powershell | Out-String | Invoke-Expression', 'in $PROFILE'],
  ],
};
