import { nearWords } from '../run/near-words.ts';
import type { Env } from '../system/env.ts';
import { type Setting, settingTable } from './table.ts';

const variables: readonly string[] = [
  ...Object.values<Setting>(settingTable).flatMap(({ env }) => env),
  // These variables are set for `--on-final` commands, so a nested runctl sees them.
  ...['STATUS', 'OUTCOME', 'EXIT_CODE', 'STARTED', 'EXECUTION_ID', 'AUTOMATION', 'COMMAND'].map(
    (name) => `RUNCTL_${name}`,
  ),
];

/**
 * Variables that look like settings and are none, each with the one that was probably meant.
 * Kubernetes sets RUNCTL_SERVICE_* and RUNCTL_PORT* for a service called runctl.
 */
export function unknownVariables(env: Env): string[] {
  return Object.keys(env)
    .filter((name) => /^RUNCTL_(?!SERVICE_|PORT)/i.test(name) && env[name])
    .filter((name) => !variables.includes(name))
    .map((name) => {
      const meant = variableLike(name);
      return meant ? `${name} (did you mean ${meant}?)` : name;
    });
}

/** The variable that an unknown one was probably meant to be. */
function variableLike(name: string): string | undefined {
  const [near] = nearWords(name, variables);
  if (near) return near;
  if (/_(?:URL|HOST|ENDPOINT)$/i.test(name)) return 'RUNCTL_BASE_URL';
  return /(?:KEY|TOKEN)$/i.test(name) ? 'RUNCTL_API_KEY' : undefined;
}
