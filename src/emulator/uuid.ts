/** A UUID v4 (RFC 9562 §5.4) from a source of randomness that a test can hold. */
export function createUuid(random: () => number): string {
  return 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[xy]/g, (place) => {
    const nibble = Math.floor(random() * 16);
    return (place === 'x' ? nibble : (nibble & 3) | 8).toString(16);
  });
}
