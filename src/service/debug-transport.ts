import { type Exchange, type Headers, type Transport, valuesOf } from './exchange.ts';

/** The headers whose values are shown. All others are hidden, because one may contain a secret. */
const shownHeaders = [
  'content-type',
  'content-length',
  'content-encoding',
  'date',
  'idempotency-key',
  'location',
  'retry-after',
  'server',
  'x-request-id',
];

/** A transport that also describes every request and response in lines for `--debug`. */
export function createDebugTransport(
  inner: Transport,
  { origin, nowMs, write }: { origin: string; nowMs(): number; write(line: string): void },
): Transport {
  let count = 0;
  return {
    async exchange(request, signal) {
      count += 1;
      const number = count;
      const startMs = nowMs();
      write(
        `#${number} ${request.method} ${origin}${request.path}${shownHeaderText(request.headers)}`,
      );
      const exchange = await inner.exchange(request, signal);
      write(`#${number} ${exchangeText(exchange)} after ${Math.round(nowMs() - startMs)} ms`);
      return exchange;
    },
  };
}

function exchangeText(exchange: Exchange): string {
  if (exchange.kind === 'response') {
    const { status, headers, body, isTruncated } = exchange.response;
    const cut = isTruncated ? ' (cut)' : '';
    return `${status}, ${body.length} bytes${cut}${shownHeaderText(headers)}`;
  }
  const { kind, wasSent, error } = exchange.failure;
  const detail = error instanceof Error ? `: ${error.message}` : '';
  const sentText = wasSent ? 'sent' : 'not sent';
  return `no response (${kind}${detail}), the request was ${sentText},`;
}

function shownHeaderText(headers: Headers): string {
  return shownHeaders
    .flatMap((name) => valuesOf(headers, name).map((value) => ` ${name}=${value}`))
    .join('');
}
