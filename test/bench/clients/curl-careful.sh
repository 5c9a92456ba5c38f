#!/usr/bin/env bash
# The same with care: no error of curl or jq is overlooked, each request has a time limit and is retried five times.
set -euo pipefail
automation="$RUNCTL_BASE_URL/v0/automation/$RUNCTL_PROJECT/$1"

request() {
  curl --silent --show-error --fail --max-time 30 --retry 5 --retry-all-errors \
    -H "x-api-key: $RUNCTL_API_KEY" -H 'content-type: application/json' "$@"
}

id=$(request -X POST -d '{}' "$automation/trigger" | jq --exit-status --raw-output .executionId)
status=RUNNING
while [ "$status" = RUNNING ]; do
  sleep 3
  status=$(request "$automation/executions/$id" | jq --exit-status --raw-output .status)
done
request "$automation/executions/$id/result" | jq --raw-output '.output // .error.message'
[ "$status" = COMPLETED ]
