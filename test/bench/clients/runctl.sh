#!/bin/sh
exec node "$(dirname "$0")/../../../bin/runctl.js" trigger "$1" --watch --quiet
