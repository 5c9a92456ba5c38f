import { exitCodes } from '../../src/run/exit-codes.ts';

/** The exit codes after which a line with an idempotency key of its own isn't repeated. */
export const codesNotToRepeat = exitCodes.flatMap(({ code, repeat }) => (repeat === 'no' && code !== 0 ? code : []));
