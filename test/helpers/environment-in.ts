import { join } from 'node:path';
import type { FaultyEmulator } from '../fault-kit/start.ts';

/** The environment that points at an emulator, with a state and a config folder of its own in `folder`. */
export function environmentIn(
  folder: string,
  { url, apiKey, projectId }: Pick<FaultyEmulator, 'url' | 'apiKey' | 'projectId'>,
): Record<string, string> {
  return {
    RUNCTL_BASE_URL: url,
    RUNCTL_API_KEY: apiKey,
    RUNCTL_PROJECT: projectId,
    RUNCTL_CONFIG_DIR: join(folder, 'config'),
    RUNCTL_STATE_DIR: join(folder, 'state'),
  };
}
