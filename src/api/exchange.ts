/** One HTTP exchange, as the layers above the transport see it. */
export interface HttpRequest {
  method: 'GET' | 'POST';
  /** Path from the root of the origin, already percent-encoded. */
  path: string;
  headers: Record<string, string>;
  body?: string;
  /** The whole attempt, connecting and reading the body included, ends after this time. */
  timeoutMs: number;
  /** More body than this is not read. */
  maxBytes: number;
}

/** Names in lower case; a repeated header has a list of values. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Every value of a header, in the order of its lines. */
export const valuesOf = (headers: Headers, name: string): readonly string[] => [headers[name] ?? []].flat();

export interface HttpResponse {
  status: number;
  headers: Headers;
  body: Buffer;
  /** The body went past `maxBytes` and was cut there. */
  truncated: boolean;
}

export interface ExchangeFailure {
  /** Had a byte of the request been given to the connection? If not, the service cannot have acted on it. */
  sent: boolean;
  reason: 'deadline' | 'interrupted' | 'network';
  /** The status, when the head of an answer came but not its whole body. */
  status?: number;
  error?: unknown;
}

export type Exchange = { kind: 'response'; response: HttpResponse } | { kind: 'failure'; failure: ExchangeFailure };

export interface Transport {
  /** Never rejects, and always settles within `timeoutMs` or at once when `signal` aborts. */
  exchange(request: HttpRequest, signal: AbortSignal): Promise<Exchange>;
  /** Drops every connection without waiting for anything. */
  destroy(): void;
}
