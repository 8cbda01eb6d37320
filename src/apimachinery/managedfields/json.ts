// The little that ownership needs to know of decoded JSON.

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isEmptyObject = (value: object): boolean => {
  for (const _ in value) return false;
  return true;
};
