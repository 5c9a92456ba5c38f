import type { JsonObject } from '../run/run.ts';

/** A response: a JSON document, or an HTML page such as a gateway sends. */
export interface Reply {
  status: number;
  body: JsonObject | string;
  headers?: Record<string, string>;
}

/**
 * The response to a request that the service refuses. It documents the codes `notFound` and
 * `runAlreadyActive`; the other codes and the shape are the emulator's own.
 */
export const refusal = (
  status: number,
  code: string,
  message: string,
  headers?: Reply['headers'],
): Reply => ({ status, body: { code, message }, headers });

export const htmlPage = (status: number, title: string): Reply => ({
  status,
  body: `<!doctype html><html><head><title>${title}</title></head><body>${title}</body></html>`,
});
