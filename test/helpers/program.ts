import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Emulator } from '../../src/emulator/server.ts';
import { environmentIn } from './environment-in.ts';

/** A folder that is gone when the test is over. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'runctl-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The environment that points at an emulator, with a state and a config folder that are gone when the test is over. */
export function environmentOf(emulator: Emulator, folder = temporaryFolder()): Record<string, string> {
  return environmentIn(folder, emulator);
}
