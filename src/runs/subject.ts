import type { JsonObject } from './json.ts';
import type { Target } from './run.ts';

/** The run or the automation that was asked for. */
export interface Subject {
  executionId?: string;
  target?: Target;
}

const subjects = new WeakMap<JsonObject, Subject>();

/** Adds what a document is about. Its other fields come from the service, whose response may name another run. */
export const noteSubject = (document: JsonObject, subject: Subject) => subjects.set(document, subject);

export const subjectOf = (document: JsonObject): Subject => subjects.get(document) ?? {};
