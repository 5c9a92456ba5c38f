/**
 * Admits at most `requests` in any window of `windowMs`.
 * The function answers with 0 (admitted) or the time in ms until the next one would be.
 */
export function createRateLimit(requests: number, windowMs: number): (nowMs: number) => number {
  let admittedMs: number[] = [];
  return (nowMs) => {
    admittedMs = admittedMs.filter((atMs) => atMs > nowMs - windowMs);
    const [oldestMs] = admittedMs;
    if (oldestMs !== undefined && admittedMs.length >= requests) return oldestMs + windowMs - nowMs;
    admittedMs.push(nowMs);
    return 0;
  };
}
