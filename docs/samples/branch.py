"""Prints what to do next: runctl trigger nightly --watch --json | python3 branch.py"""
import json
import sys

runctl = json.load(sys.stdin)["runctl"]
outcome, started = runctl["outcome"], runctl.get("trigger", {}).get("started")

if outcome == "ok":
    print("done")
elif started == "unknown":
    print("do not repeat:", runctl["next"])
elif outcome in ("already_active", "rate_limited"):
    print("later")
elif started == "no":
    print("no run was started:", outcome)
else:
    print("look at the run:", runctl["next"])
