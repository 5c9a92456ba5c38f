"""Starts a run, watches it until it finishes, and recovers it if the response is lost. Everything this script knows about
runctl comes from `runctl explain --json` and `../document.schema.json`.

    python3 supervise.py nightly [time to retry the trigger] [time to wait at once]
"""
import json
import pathlib
import subprocess
import sys
import uuid

KINDS = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool, "null": type(None)}


def ask(*words):
    return subprocess.run(["runctl", *words], stdout=subprocess.PIPE, text=True).stdout


def fits(value, schema):
    """Does a value fit a schema? Handles only the keywords that matter when reading documents."""
    if "anyOf" in schema:
        return any(fits(value, each) for each in schema["anyOf"])
    if "const" in schema or "enum" in schema:
        return value in schema.get("enum", [schema.get("const")])
    types = schema.get("type", list(KINDS))
    if not any(isinstance(value, KINDS[each]) for each in ([types] if isinstance(types, str) else types)):
        return False
    if isinstance(value, list):
        return all(fits(each, schema.get("items", {})) for each in value)
    if not isinstance(value, dict):
        return True
    known = schema.get("properties", {})
    return all(name in value for name in schema.get("required", [])) and all(
        fits(value[name], each) for name, each in known.items() if name in value
    )


exit_codes = {each["outcome"]: each for each in json.loads(ask("explain", "--json"))["runctl"]["explain"]}
schema = json.loads((pathlib.Path(__file__).parent.parent / "document.schema.json").read_text())


def call(command, *words, **options):
    """Runs a command and returns its documents. Fails if a document doesn't fit the schema."""
    for name, value in {"--json": True, **options}.items():
        words += (name,) if value is True else (name, value)
    documents = [json.loads(line) for line in ask(command, *words).splitlines()]
    assert all(fits(each, schema) for each in documents), f"not as the schema says: {documents}"
    return documents


def end(document):
    outcome = document["runctl"]["outcome"]
    print(outcome, document["output"] if outcome == "ok" else exit_codes[outcome]["advice"])
    sys.exit(document["runctl"]["exitCode"])


automation = sys.argv[1]
give_up_after = sys.argv[2] if len(sys.argv) > 2 else "2m"
slice_of_time = sys.argv[3] if len(sys.argv) > 3 else "9m"
key = str(uuid.uuid4())
[document] = call("trigger", automation, **{"--idempotency-key": key, "--give-up-after": give_up_after})

# Without a run, "unknown" means that the response was lost. The same key finds the run, whoever resolves it first.
if document["executionId"] is None and document["runctl"]["trigger"]["started"] == "unknown":
    print("recover", document["runctl"]["outcome"])
    call("recover")
    [document] = call("trigger", automation, **{"--idempotency-key": key, "--give-up-after": give_up_after})
if document["executionId"] is None:
    end(document)

run = "/".join(document[name] for name in ("projectId", "automationName", "executionId"))
[document] = call("watch", run, **{"--timeout": slice_of_time})
while document["runctl"]["outcome"] == "timeout":
    print("wait")
    [document] = call("watch", run, **{"--timeout": slice_of_time})
end(document)
