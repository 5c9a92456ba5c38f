/**
 * The looks (seconds) with the least expected lag + worth × requests for run times whose distribution is known:
 * dynamic programming over a grid that is finest at the start, from the last moment backwards. `rest[i]` is what is
 * still to come after a look at `timesS[i]` that found the run going, times the probability of that.
 */
export function optimalLooks({ cdf, longestS }, worthS, cells = 3000) {
  const timesS = Array.from({ length: cells + 1 }, (_, i) => longestS * (i / cells) ** 2);
  const ended = timesS.map((timeS, i) => (i < cells ? cdf(timeS) : 1));
  const area = [0];
  for (let i = 1; i <= cells; i++)
    area[i] = area[i - 1] + ((ended[i - 1] + ended[i]) / 2) * (timesS[i] - timesS[i - 1]);

  const rest = new Float64Array(cells + 1);
  const next = new Int32Array(cells + 1);
  for (let i = cells - 1; i >= 0; i--) {
    const request = worthS * (1 - ended[i]);
    rest[i] = Number.POSITIVE_INFINITY;
    for (let j = i + 1; j <= cells; j++) {
      const lag = area[j] - area[i] - ended[i] * (timesS[j] - timesS[i]);
      if (lag + request > rest[i]) break;
      if (lag + request + rest[j] < rest[i]) {
        rest[i] = lag + request + rest[j];
        next[i] = j;
      }
    }
  }

  const looks = [];
  for (let i = next[0]; i < cells; i = next[i]) looks.push(timesS[i]);
  return [...looks, longestS];
}
