export interface HttpRequest {
  method: 'GET' | 'POST';
  /** From the root of the origin, percent-encoded. */
  path: string;
  headers: Record<string, string>;
  body?: string;
  /** For the whole attempt, from connecting to the last byte of the body. */
  timeoutMs: number;
  maxBytes: number;
}

/** Names in lower case; a repeated header is a list. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

export const valuesOf = (headers: Headers, name: string): readonly string[] => [headers[name] ?? []].flat();

export interface HttpResponse {
  status: number;
  headers: Headers;
  body: Buffer;
  truncated: boolean;
}

export interface ExchangeFailure {
  /** A byte was given to the connection; else the service cannot have acted on the request. */
  sent: boolean;
  reason: 'deadline' | 'interrupted' | 'network';
  /** The head of an answer came, but not its whole body. */
  status?: number;
  error?: unknown;
}

export type Exchange = { kind: 'response'; response: HttpResponse } | { kind: 'failure'; failure: ExchangeFailure };

export interface Transport {
  /** Never rejects, and ends within `timeoutMs` or when `signal` aborts. */
  exchange(request: HttpRequest, signal: AbortSignal): Promise<Exchange>;
  /** Waits for nothing. */
  destroy(): void;
}
