import { exitCodes } from '../problems/exit-codes.ts';
import type { HistoryEvent, HistoryEventName } from '../runs/history-event.ts';
import { isUuid, nameOf } from '../runs/run.ts';
import { endedWell } from '../runs/statuses.ts';
import { formatDuration, localTime } from '../runs/time-text.ts';
import { sanitizeLine } from '../sanitize.ts';
import { lengthOfIds } from './status-text.ts';
import { type Column, table } from './table-layout.ts';
import type { Theme } from './theme.ts';

const zoneLength = ' +0100'.length;
const dateLength = '2026-11-22 '.length;
const narrow = 60;

const columnsOf = (zone: string | undefined, idLength: number, width: number): readonly Column<HistoryEvent>[] => [
  {
    heading: zone === undefined || width < narrow ? 'TIME' : `TIME${zone}`,
    cell: ({ at }, { dim }) => [timeOf(localTime(at), zone, width), dim],
  },
  {
    heading: 'AUTOMATION',
    cell: ({ target }) => sanitizeLine(nameOf(target)),
    least: width < narrow ? 8 : 12,
    cut: 'middle',
  },
  {
    heading: 'WHAT',
    cell: (event, theme) => [sanitizeLine(eventSentence(event)), styleOf(event, theme)],
    least: Math.min(34, width - (width < narrow ? 20 : 35)),
    cut: 'wrap',
  },
  { heading: 'RUN', cell: ({ executionId = '' }) => sanitizeLine(executionId.slice(0, idLength)), spare: 2 },
  {
    heading: 'KEY',
    least: 8,
    cut: 'middle',
    spare: 1,
    // Those that people give often differ at their ends alone, as in `nightly-2026-11-22`.
    cell: ({ idempotencyKey: key = '' }, { dim }) => [sanitizeLine(isUuid(key) ? key.slice(0, idLength) : key), dim],
  },
];

/** A narrow terminal has no room for the date. */
function timeOf(text: string, zone: string | undefined, width: number): string {
  if (width < narrow) return text.slice(dateLength, -zoneLength);
  return zone === undefined ? text : text.slice(0, -zoneLength);
}

/** One line for each event. The heading names the zone of the times, if they have one in common. */
export function historyTable(
  events: readonly HistoryEvent[],
  theme: Theme,
  { columns, hasHeading }: { columns?: number; hasHeading: boolean },
): string {
  const zones = new Set(events.map(({ at }) => localTime(at).slice(-zoneLength)));
  const zone = hasHeading && zones.size === 1 ? [...zones][0] : undefined;
  const ids = events.flatMap(({ executionId = [], idempotencyKey: key = '' }) =>
    [executionId, isUuid(key) ? key : []].flat(),
  );
  const idLength = columns === undefined ? Infinity : lengthOfIds(ids);
  const text = table(columnsOf(zone, idLength, columns ?? Infinity), events, theme, columns ?? Infinity);
  return hasHeading ? text : text.slice(text.indexOf('\n') + 1);
}

const sentences: Record<HistoryEventName, (event: HistoryEvent) => string> = {
  sent: (event) => `sent by ${commandOf(event)}`,
  sent_again: (event) => `sent again by ${commandOf(event)}`,
  response_lost: ({ reason = '' }) => `outcome unknown: ${reason}`,
  accepted: ({ status = 'RUNNING' }) => `accepted: ${status}`,
  resolved: (event) => `resolved by ${commandOf(event)}: ${event.status ?? 'RUNNING'}`,
  refused({ reason, refusal = '', ifActive }) {
    if (ifActive !== undefined) return `already running (--if-active ${ifActive})`;
    if (refusal.startsWith('interrupted')) return 'interrupted before it was accepted';
    const code = exitCodes.find(({ name }) => name === refusal)?.code;
    const how = refusal === 'unavailable' ? 'never arrived' : 'refused';
    return `${how}${code === undefined ? '' : ` (${code})`}: ${reason ?? refusal}`;
  },
  repeat_refused: ({ reason, refusal }) => `repeat refused: ${reason ?? refusal}`,
  superseded: (event) => `superseded by a later run (${commandOf(event)})`,
  untracked: () => 'no longer tracked',
  looked_at: ({ by, status }) => `first seen${by ? ` by ${by}` : ''}: ${status}`,
  status: ({ status }) => `${status}`,
  finished: ({ by, status, durationMs }) => {
    const after = durationMs === undefined ? '' : ` after ${formatDuration(durationMs)}`;
    return `${status}${after}${by ? `, seen by ${by}` : ''}`;
  },
  forgotten: () => 'no longer known to the service',
  hook_due: ({ hook }) => `${hook} hook due`,
  hook_begun: (event) => `${event.hook} hook started`,
  hook_ended: ({ hook, failure = 'exited with 0' }) => `${hook} hook ${failure}`,
  keys_honored: () => 'idempotency keys are honored',
  keys_ignored: () => 'idempotency keys are ignored: triggers repeated before this may have started two runs',
};

const eventSentence = (event: HistoryEvent): string => sentences[event.what](event);

const commandOf = ({ by = 'runctl' }: HistoryEvent): string => by;

function styleOf({ what, status, failure }: HistoryEvent, theme: Theme): (text: string) => string {
  if (
    what === 'refused' ||
    what === 'repeat_refused' ||
    what === 'response_lost' ||
    what === 'keys_ignored' ||
    failure !== undefined
  )
    return theme.warn;
  if (what !== 'finished' || status === undefined) return String;
  return endedWell(status) ? theme.ok : theme.bad;
}
