/** A document as the service sent it: unknown fields are kept. */
export interface JsonObject {
  [field: string]: unknown;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
