/** The results of `act` for each item, in order, with so many at a time as keep two cores busy. */
export async function mapConcurrently<T, U>(
  items: readonly T[],
  act: (item: T) => Promise<U>,
  atATime = 8,
): Promise<U[]> {
  const results: U[] = [];
  let next = 0;
  const work = async () => {
    for (let index = next++; index < items.length; index = next++) results[index] = await act(items[index] as T);
  };
  await Promise.all(Array.from({ length: atATime }, work));
  return results;
}
