const slowest = 8;
const recoveryPerLook = 0.9;

/** How much slower than its own pace everything in this process polls, since the service said 429. */
export interface Tempo {
  slowDown(): void;
  /** A gap in milliseconds, stretched; each call lets the tempo recover a little. */
  stretch(gapMs: number): number;
}

/** Halves the tempo at each 429, to an eighth at the most, and takes it back by a tenth a poll. */
export function createTempo(): Tempo {
  let factor = 1;
  return {
    slowDown() {
      factor = Math.min(slowest, factor * 2);
    },
    stretch(gapMs) {
      const stretched = gapMs * factor;
      factor = Math.max(1, factor * recoveryPerLook);
      return stretched;
    },
  };
}
