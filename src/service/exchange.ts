export interface HttpRequest {
  method: 'GET' | 'POST';
  /** The path from the root of the origin, percent-encoded. */
  path: string;
  headers: Record<string, string>;
  body?: string;
  /** The time limit of the attempt, from connecting to the last byte of the body. */
  timeoutMs: number;
  maxBytes: number;
}

/** Names are in lower case. A repeated header is a list. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The values of a header. Empty if there is none of this name. */
export const valuesOf = (headers: Headers, name: string): readonly string[] =>
  [headers[name] ?? []].flat();

export interface HttpResponse {
  status: number;
  headers: Headers;
  body: Buffer;
  /** The body was longer than `maxBytes` and was cut there. */
  isTruncated: boolean;
}

export interface ExchangeFailure {
  /**
   * Whether a byte was written to the connection. If not, the service can't have acted on the
   * request.
   */
  wasSent: boolean;
  kind: 'deadline' | 'interrupted' | 'network';
  /** The HTTP status, if the head of a response came, but not its complete body. */
  status?: number;
  error?: unknown;
}

export type Exchange =
  | { kind: 'response'; response: HttpResponse }
  | { kind: 'failure'; failure: ExchangeFailure };

export interface Transport {
  /** Never rejects, and ends within `timeoutMs` or when `signal` aborts. */
  exchange(request: HttpRequest, signal: AbortSignal): Promise<Exchange>;
}

export interface Cause {
  code: string;
  message: string;
  /** The name of its class. */
  name: string;
  /** What an HTTP parser couldn't read. */
  data: string;
  certificate?: CertificateAtFault;
}

/** The certificate that keeps a TLS server from being trusted. */
export interface CertificateAtFault {
  name: string;
  /** The name of the authority that signed it. */
  issuer: string;
  /** It is the certificate of the host, and not of an authority. */
  isOfHost: boolean;
  /** The server sent no other certificate. */
  isAlone: boolean;
}

/**
 * The error and all nested errors. undici and `net` may put the most useful one in any of these
 * places.
 */
export function causesOf(error: unknown, depth = 0): Cause[] {
  if (!(error instanceof Error) || depth > 5) return [];
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const data = 'data' in error && typeof error.data === 'string' ? error.data : '';
  const certificate =
    'certificate' in error ? (error.certificate as CertificateAtFault) : undefined;
  const bundled = error instanceof AggregateError ? error.errors : [];
  return [
    { code, message: error.message, name: error.name, data, certificate },
    ...[error.cause, ...bundled].flatMap((inner) => causesOf(inner, depth + 1)),
  ];
}
