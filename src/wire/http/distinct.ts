// Headers whose lines count one by one, as those in which a front proxy names a user's groups. Pure.
import type { WireRequest } from './types.ts';

/** Node joins the lines of a repeated header; groups and extras may hold commas, so for identity they must stay apart. */
export function distinctHeaders({
  headers,
  rawHeaders,
}: Pick<WireRequest, 'headers' | 'rawHeaders'>): WireRequest['headers'] & Record<string, string | string[] | undefined> {
  // Most requests repeat nothing: each line has a name of its own.
  let names = 0;
  for (const _ in headers) names++;
  if (names === rawHeaders.length / 2) return headers;
  const seen = new Set<string>();
  let lists: Record<string, string[]> | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase();
    if (seen.has(name)) lists = { ...lists, [name]: [] };
    seen.add(name);
  }
  if (!lists) return headers;
  for (let i = 0; i < rawHeaders.length; i += 2)
    lists[(rawHeaders[i] as string).toLowerCase()]?.push(rawHeaders[i + 1] as string);
  return { ...headers, ...lists };
}
