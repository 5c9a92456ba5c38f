const form = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Any UUID, whatever its version: the interface says no more. */
export function isUuid(text: string): boolean {
  return form.test(text);
}
