#!/bin/sh
# The tour of `npm run demo`: real commands against the emulator, with settings and a journal of their own.
# `.config/demo.sh runctl` shows an installed one.
set -u
runctl=${1:-$(dirname "$0")/../bin/runctl.js}
folder=$(mktemp -d) || exit
service='' watch=''
trap 'kill $service $watch 2> /dev/null; rm -rf "$folder"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
for name in $(env | sed -n 's/^\(RUNCTL_[A-Z_]*\)=.*/\1/p'); do unset "$name"; done
export RUNCTL_CONFIG_DIR="$folder" RUNCTL_STATE_DIR="$folder"

dim='' strong='' plain='' pressed='^C\n'
if [ -t 1 ]; then
  [ -n "${NO_COLOR-}" ] || dim=$(printf '\033[2m') strong=$(printf '\033[1m') plain=$(printf '\033[0m')
  pressed='\033[A\033[K^C\n\n' # in place of the spinner, which then erases its line and the cursor's
fi
say() { printf '\n%s# %s%s\n' "$dim" "$1" "$plain"; }
prompt() { printf '%s$ %s%s%s\n' "$dim" "$plain$strong" "$1" "$plain"; }
run() { prompt "runctl $*" && "$runctl" "$@" 2>&1; }

# Plays a scenario, in which a minute passes in 20 seconds.
serve() {
  : > "$folder/settings"
  "$runctl" emulator --scenario "$1" --speed 3 > "$folder/settings" 2> "$folder/seen" &
  service=$!
  until grep -q PROJECT "$folder/settings"; do kill -0 "$service" && sleep 0.1 || exit; done
  . "$folder/settings"
}
stop() { kill "$service" && wait "$service"; service=''; }

say 'The first response is lost. runctl asks again with the same idempotency key. (Here, clocks run three times as fast.)'
serve lost-answer
run trigger nightly --watch || exit
stop
say 'What the service saw: two triggers, one run.'
sed -e 1,2d -e 's/^/  /' "$folder/seen"
sleep 2

say 'A run that fails'
serve failing
run trigger invoices --watch; code=$?
prompt 'echo $?' && echo "$code"
stop
sleep 2

say 'Ctrl-C stops watching. The run continues.'
serve happy
prompt 'runctl trigger report --watch'
"$runctl" trigger report --watch 2>&1 & watch=$!
until grep -q '^status report' "$folder/seen"; do kill -0 "$watch" && sleep 0.1 || exit; done
kill -INT "$watch" && printf "$pressed"
wait "$watch"; watch=''
say 'So you can watch it again, from here or after a reboot.'
run watch @last || exit
stop

printf "\nTo use your own account, start with 'runctl config'.\nTo test your own scripts like this, see 'runctl emulator --help'.\n"
