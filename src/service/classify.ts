import type { FaultKind } from '../run/fault.ts';
import type { Endpoint } from '../run/service.ts';
import { endpoints } from './endpoints.ts';
import type { ErrorBody } from './error-body.ts';

interface ErrorResponse {
  status: number;
  body: ErrorBody;
  /** Its `Location` is a run of the target. */
  leadsToRun: boolean;
  hasRetryAfter: boolean;
}

const conditions = {
  always: () => true,
  'Location of a run': ({ leadsToRun }: ErrorResponse) => leadsToRun,
  runAlreadyActive: ({ body }: ErrorResponse) => body.mentions('runAlreadyActive'),
  'a not-found code': ({ body }: ErrorResponse) =>
    body.isJson && (body.mentions('notFound') || /not_?found$/i.test(body.code ?? '')),
  'JSON, no code': ({ body }: ErrorResponse) =>
    body.isJson && (body.code === undefined || isNameOfStatus(body.code)),
  'no JSON': ({ body }: ErrorResponse) => !body.isJson,
  'an HTML page': ({ body }: ErrorResponse) => body.page !== undefined,
  'Retry-After': ({ hasRetryAfter }: ErrorResponse) => hasRetryAfter,
};

/**
 * Whether it is the current or former name of status 422 (RFC 9110 §15.5.21), which some frameworks
 * use as the code.
 */
const isNameOfStatus = (code: string) => /^unprocessable[_-]?(content|entity)/i.test(code);

type StatusRow = [
  statuses: string,
  condition: keyof typeof conditions,
  trigger: FaultKind,
  poll: FaultKind,
];

/** The first matching row decides. */
// biome-ignore format: a table
const table: readonly StatusRow[] = [
  // HTTP status           if it has            to a trigger         to a poll
  ['300-399',              'Location of a run', 'redirected_to_run', 'redirected'],
  ['300-399',              'always',            'redirected',        'redirected'],
  // A firewall or a login portal sends pages, and may replace the response of the service.
  ['401 403',              'an HTML page',      'unreadable',        'unreadable'],
  // GitHub and others limit the rate with it.
  ['403',                  'Retry-After',       'throttled',         'throttled'],
  ['401 403',              'always',            'unauthorized',      'unauthorized'],
  ['402',                  'always',            'no_credits',        'no_credits'],
  ['404',                  'always',            'not_found',         'path_not_found'],
  ['407',                  'always',            'proxy_refused',     'proxy_refused'],
  ['408 425',              'always',            'unavailable',       'unavailable'],
  ['429',                  'always',            'throttled',         'throttled'],
  ['400-499',              'runAlreadyActive',  'already_active',    'rejected'],
  ['410',                  'a not-found code',  'not_found',         'path_not_found'],
  ['410',                  'always',            'rejected',          'path_not_found'],
  ['422',                  'a not-found code',  'not_found',         'not_found'],
  ['422',                  'JSON, no code',     'rejected',          'not_found'],
  ['422',                  'no JSON',           'rejected',          'unreadable'],
  ['409',                  'always',            'in_progress',       'rejected'],
  ['400-499',              'a not-found code',  'not_found',         'rejected'],
  ['500 502-504 520-527',  'always',            'unavailable',       'unavailable'],
  // A login portal sends 511 (RFC 6585 §6).
  ['500-599',              'an HTML page',      'rejected',          'unreadable'],
];

const rows = table.map(([statuses, condition, trigger, poll]) => ({
  ranges: statuses.split(/ +/).map((range) => range.split('-').map(Number)),
  fits: conditions[condition],
  trigger,
  poll,
}));

/** The kind of fault in an error response; `rejected` if no row matches. */
export function kindOf(response: ErrorResponse, endpoint: Endpoint): FaultKind {
  const row = rows.find(
    ({ ranges, fits }) =>
      ranges.some((range) => isWithin(response.status, range)) && fits(response),
  );
  return row?.[endpoints[endpoint].statusColumn] ?? 'rejected';
}

const isWithin = (status: number, [from = 0, to = from]: number[]) =>
  status >= from && status <= to;
