import type { Fault } from './fault.ts';

/** What came of reading the API key again after the service refused it. */
export type ApiKeyReload =
  /** Another API key is in force now. */
  | { kind: 'changed' }
  /** It is the same one, or there is nothing to read. */
  | { kind: 'same' }
  /** The file or the command has no API key at the moment. */
  | { kind: 'unreadable'; reason: string };

/** The refusal, whose clause also says what came of reading the API key again. */
export function faultAfterReload(fault: Fault, reload: ApiKeyReload): Fault {
  switch (reload.kind) {
    case 'changed':
      return { ...fault, message: `${fault.message}, and there is a new API key` };
    case 'unreadable':
      return {
        ...fault,
        message: `${fault.message}, and it can't be read again: ${reload.reason}`,
      };
    case 'same':
      return fault;
  }
}
