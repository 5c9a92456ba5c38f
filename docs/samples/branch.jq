# Prints what to do next: runctl trigger nightly --watch --json | jq -r -f branch.jq
.runctl
| if .outcome == "ok" then "done"
  elif .trigger.started == "unknown" and (.trigger.safeToRepeat | not) then "do not repeat: \(.next)"
  elif .outcome | IN("already_active", "rate_limited", "outcome_unknown") then "later"
  elif .trigger.started == "no" then "no run was started: \(.outcome)"
  else "look at the run: \(.next)"
  end
