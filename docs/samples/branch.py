"""Prints what to do next: runctl trigger nightly --watch --json | python3 branch.py"""
import json
import sys

runctl = json.load(sys.stdin)["runctl"]
outcome, trigger = runctl["outcome"], runctl.get("trigger", {})

if outcome == "ok":
    print("done")
elif trigger.get("started") == "unknown" and not trigger["safeToRepeat"]:
    print("do not repeat:", runctl["next"])
elif outcome in ("already_active", "rate_limited", "outcome_unknown"):
    print("later")
elif trigger.get("started") == "no":
    print("no run was started:", outcome)
else:
    print("look at the run:", runctl["next"])
