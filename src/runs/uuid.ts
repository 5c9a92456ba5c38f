const form = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** A UUID of any version: the service does not say which it uses. */
export function isUuid(text: string): boolean {
  return form.test(text);
}
