import type { Fault } from './fault.ts';

/** What reading the API key again has shown after the service refused one. */
export type ApiKeyReload =
  | { kind: 'changed' } // another API key is in force now
  | { kind: 'same' } // it is the same, or there is nothing to read
  | { kind: 'unreadable'; reason: string }; // the file or the command has none at the moment

/** The refusal, with what reading the API key again has shown, for the message. */
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
