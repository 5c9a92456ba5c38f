import { createPrivateKey } from 'node:crypto';
import { inject } from 'vitest';
import type { Authority } from './certificates.ts';

/** The authority that the processes of the tests trust, and the file of its certificate. */
export function trustedAuthority(): Authority & { file: string } {
  const { cert, key, file } = inject('authority');
  return { name: 'authority of the tests', cert, key, file, privateKey: createPrivateKey(key) };
}
