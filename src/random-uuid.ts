import { getBuiltinModule } from 'node:process';

/** The global `crypto` would load twice as much, and a trigger needs this module anyway. */
export const randomUuid = (): string => getBuiltinModule('node:crypto').randomUUID();
