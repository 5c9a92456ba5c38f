import type { Fault } from './fault.ts';

/** What reading the API key again has shown after the service refused one. */
export type Renewal =
  | { kind: 'another' } // another API key is in force now
  | { kind: 'same' } // it is the same, or there is nothing to read
  | { kind: 'unreadable'; reason: string }; // the file or the command has none at the moment

/** The refusal, with what reading the API key again has shown, for the message. */
export function refusalAfter(fault: Fault, renewal: Renewal): Fault {
  switch (renewal.kind) {
    case 'another':
      return { ...fault, message: `${fault.message}, and there is a new API key` };
    case 'unreadable':
      return { ...fault, message: `${fault.message}, and it can't be read again: ${renewal.reason}` };
    case 'same':
      return fault;
  }
}
