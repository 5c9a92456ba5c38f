import { channel } from 'node:diagnostics_channel';
import { EventEmitter, once } from 'node:events';
import '../../src/service/undici.ts'; // loaded by the first request, which would not be under way until then

/** The requests of this process that have neither been answered nor failed, as undici tells it. */
const underWay = new Set<unknown>();
const ends = new EventEmitter().setMaxListeners(0);
let answered = 0;

/** How many have been answered or have failed so far. */
export const countAnswered = () => answered;

/** Turns of the event loop that a transport may take before undici has the request. */
const turnsToBegin = 3;

/** Resolves once none is under way and all else that was ready has gone on. */
export async function allAnswered(): Promise<void> {
  do {
    if (underWay.size > 0) await once(ends, 'last');
    for (let turn = 0; turn < turnsToBegin; turn++) await new Promise((resolve) => setImmediate(resolve));
  } while (underWay.size > 0);
}

const subscribe = (name: string, act: (request: { method?: string }) => void) =>
  channel(`undici:request:${name}`).subscribe((message) => act((message as { request: object }).request));

// That a tunnel has been opened is not told.
subscribe('create', (request) => request.method !== 'CONNECT' && underWay.add(request));
for (const end of ['trailers', 'error']) {
  subscribe(end, (request) => {
    if (!underWay.delete(request)) return;
    answered += 1;
    if (underWay.size === 0) ends.emit('last');
  });
}
