/** The results of `act` for each item, in order, so many at a time: most of what they do is waiting. */
export async function mapConcurrently<T, U>(
  items: readonly T[],
  act: (item: T) => Promise<U>,
  atATime = 24,
): Promise<U[]> {
  const results: U[] = [];
  let next = 0;
  const work = async () => {
    for (let index = next++; index < items.length; index = next++) results[index] = await act(items[index] as T);
  };
  await Promise.all(Array.from({ length: atATime }, work));
  return results;
}
