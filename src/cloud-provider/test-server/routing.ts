// Finds the handler of a request by method and path template, as vendors write them: `GET /projects/{project}/zones/{zone}/instances/{name}`.
// `{rest...}` takes all that follows. A literal before a parameter wins over the parameter.
import type { Handler } from './request.ts';

/** Handlers by `METHOD /path/{with}/{parameters}`. A key may end in `?name=value`: then the query must say so (`POST /lb/{id}?action=start`). */
export type Routes = Readonly<Record<string, Handler>>;

interface Route {
  method: string;
  pattern: RegExp;
  names: string[];
  query: [string, string][];
  /** Fewer parameters and more conditions are looked at first. */
  rank: number;
  handler: Handler;
}

export type Found =
  | { handler: Handler; params: Record<string, string> }
  /** Methods that the path has. None: there is no such path. */
  | { methods: string[] };

const quoted = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

function compile(key: string, handler: Handler, ignoreCase: boolean): Route {
  const [, method, path, query = ''] = /^([A-Z]+) (\/[^?]*)(?:\?(.*))?$/.exec(key) ?? [];
  if (method === undefined || path === undefined) throw new Error(`not a route: ${JSON.stringify(key)}`);
  const names: string[] = [];
  const source = path.split(/(\{[^}]+\})/).map((part) => {
    if (!part.startsWith('{')) return quoted(part);
    const name = part.slice(1, -1);
    const isRest = name.endsWith('...');
    names.push(isRest ? name.slice(0, -3) : name);
    return isRest ? '(.*)' : '([^/]+?)';
  });
  const conditions = [...new URLSearchParams(query)];
  return {
    method,
    pattern: new RegExp(`^${source.join('')}/?$`, ignoreCase ? 'i' : ''),
    names,
    query: conditions,
    rank: names.length - conditions.length + (path.includes('...}') ? 100 : 0),
    handler,
  };
}

/** Escapes that are not well-formed stay as they are. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Makes the function that finds the handler of a request. */
export function createRouter(
  routes: Routes,
  { ignoreCase = false }: { ignoreCase?: boolean } = {},
): (method: string, url: URL) => Found {
  const all = Object.entries(routes)
    .map(([key, handler]) => compile(key, handler, ignoreCase))
    .sort((a, b) => a.rank - b.rank);
  return (method, url) => {
    const methods: string[] = [];
    for (const { method: wanted, pattern, names, query, handler } of all) {
      const match = pattern.exec(url.pathname);
      if (!match || !query.every(([name, value]) => url.searchParams.get(name) === value)) continue;
      if (wanted === method)
        return {
          handler,
          params: Object.fromEntries(names.map((name, index) => [name, decoded(match[index + 1] ?? '')])),
        };
      methods.push(wanted);
    }
    return { methods };
  };
}
