import { join } from 'node:path';
import type { Emulator } from '../../src/emulator/server.ts';

/** The environment that points at an emulator, with a state and a config folder of its own in `folder`. */
export function environmentIn(folder: string, emulator: Emulator): Record<string, string> {
  return {
    RUNCTL_BASE_URL: emulator.url,
    RUNCTL_API_KEY: emulator.apiKey,
    RUNCTL_PROJECT: emulator.projectId,
    RUNCTL_CONFIG_DIR: join(folder, 'config'),
    RUNCTL_STATE_DIR: join(folder, 'state'),
  };
}
