#!/bin/sh
# What one writes first: start a run, poll it until it is no longer RUNNING, exit by its status.
automation="$RUNCTL_BASE_URL/v0/automation/$RUNCTL_PROJECT/$1"
auth="x-api-key: $RUNCTL_API_KEY"

id=$(curl -s -X POST -H "$auth" -H 'content-type: application/json' -d '{}' "$automation/trigger" | jq -r .executionId)
while status=$(curl -s -H "$auth" "$automation/executions/$id" | jq -r .status) && [ "$status" = RUNNING ]; do
  sleep 3
done
echo "$status"
[ "$status" = COMPLETED ]
