import { expect, test } from 'vitest';
import { kindOf } from '../../src/api/classify.ts';
import { readErrorBody } from '../../src/api/error-body.ts';

/** What a 422 and a 410 with this body are to a poll and to a trigger. */
const bodies: [text: string, ...kinds: string[]][] = [
  ['{"code":"notFound"}', 'not_found', 'not_found', 'path_not_found', 'not_found'],
  ['{"code":"NOT_FOUND"}', 'not_found', 'not_found', 'path_not_found', 'not_found'],
  ['{"code":"execution_not_found"}', 'not_found', 'not_found', 'path_not_found', 'not_found'],
  ['{"code":"x","detail":"notFound"}', 'not_found', 'not_found', 'path_not_found', 'not_found'],
  ['{"code":"notFoundation"}', 'rejected', 'rejected', 'path_not_found', 'rejected'],
  ['{"code":"invalidId"}', 'rejected', 'rejected', 'path_not_found', 'rejected'],
  ['{"message":"no"}', 'not_found', 'rejected', 'path_not_found', 'rejected'],
  ['{}', 'not_found', 'rejected', 'path_not_found', 'rejected'],
  ['{"error":"Unprocessable_Entity"}', 'not_found', 'rejected', 'path_not_found', 'rejected'],
  ['{"error":"UnprocessableContent"}', 'not_found', 'rejected', 'path_not_found', 'rejected'],
  ['{"error":"unprocessable-entity"}', 'not_found', 'rejected', 'path_not_found', 'rejected'],
  ['{"error":"NotUnprocessableEntity"}', 'rejected', 'rejected', 'path_not_found', 'rejected'],
  ['notFound', 'unreadable', 'rejected', 'path_not_found', 'rejected'],
  ['<html>not found</html>', 'unreadable', 'rejected', 'path_not_found', 'rejected'],
  ['', 'unreadable', 'rejected', 'path_not_found', 'rejected'],
];

test.each(bodies)('a 422 and a 410 with %s', (text, ...kinds) => {
  const body = readErrorBody(text);
  const of = (status: number, operation: 'status' | 'trigger') =>
    kindOf({ status, body, leadsToRun: false }, operation);
  expect([of(422, 'status'), of(422, 'trigger'), of(410, 'status'), of(410, 'trigger')]).toEqual(kinds);
});

test.each([299, 300, 303, 399, 400])(
  'a %i whose Location is a run is a redirect to it only among the 3xx',
  (status) => {
    const isRedirect = status >= 300 && status < 400;
    const refusal = { status, body: readErrorBody(''), leadsToRun: true };
    expect(kindOf(refusal, 'trigger')).toBe(isRedirect ? 'redirected_to_run' : 'rejected');
    expect(kindOf(refusal, 'result')).toBe(isRedirect ? 'redirected' : 'rejected');
  },
);
