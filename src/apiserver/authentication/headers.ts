// Header access as Go's net/http has it: a repeated header is a list, a missing one is ''.

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** All values of a header (lower-case name), in order. */
export function headerValues(headers: Headers, name: string): readonly string[] {
  const value = headers[name];
  if (value === undefined) return [];
  return typeof value === 'string' ? [value] : value;
}

/** The first value of a header, or ''. */
export const headerValue = (headers: Headers, name: string): string => headerValues(headers, name)[0] ?? '';

/** A key of `extra` from a header name: lower case, %-escapes decoded where they are well-formed. */
export function unescapeKey(encoded: string): string {
  const lower = encoded.toLowerCase();
  try {
    return decodeURIComponent(lower);
  } catch {
    return lower;
  }
}
