export interface Cause {
  code: string;
  message: string;
  data: string; // what an HTTP parser could not read
}

/** The error and all that are nested in it: undici and `net` put the one that says most at any of these places. */
export function causesOf(error: unknown, depth = 0): Cause[] {
  if (!(error instanceof Error) || depth > 5) return [];
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const data = 'data' in error && typeof error.data === 'string' ? error.data : '';
  const bundled = error instanceof AggregateError ? error.errors : [];
  return [
    { code, message: error.message, data },
    ...[error.cause, ...bundled].flatMap((inner) => causesOf(inner, depth + 1)),
  ];
}
