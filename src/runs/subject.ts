import type { JsonObject } from './json.ts';
import type { Target } from './run.ts';

/** The run or the automation that was asked for. */
export interface Subject {
  executionId?: string;
  target?: Target;
}

const subjects = new WeakMap<JsonObject, Subject>();

/** Notes what a document is about: its own fields are the service's, whose answer may name another run. */
export const noteSubject = (document: JsonObject, subject: Subject) => subjects.set(document, subject);

export const subjectOf = (document: JsonObject): Subject => subjects.get(document) ?? {};
