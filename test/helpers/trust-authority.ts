import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { createAuthority } from './certificates.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The authority that the tests trust, in PEM, and the file of its certificate. */
    authority: { cert: string; key: string; file: string };
  }
}

/** Makes an authority that the processes of the tests trust. Node reads the variable once, when a process starts. */
export function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'runctl-authority-'));
  const file = join(folder, 'authority.pem');
  const { cert, key } = createAuthority('authority of the tests');
  writeFileSync(file, cert);
  process.env.NODE_EXTRA_CA_CERTS = file;
  project.provide('authority', { cert, key, file });
  return () => rmSync(folder, { recursive: true, force: true });
}
