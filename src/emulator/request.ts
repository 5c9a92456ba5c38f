/** A request as it came over the wire. */
export interface ServiceRequest {
  method: string;
  /** The request target as sent: path and query, percent-encoded. */
  url: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string | undefined>>;
  body: string;
}
