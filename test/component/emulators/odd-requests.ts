// Requests that nobody's client would send, made of those that a provider has sent: values of another shape, paths that are none.
import type { Rng } from '#utils';

export interface Sent {
  method: string;
  /** With the query. */
  path: string;
  /** JSON. */
  body: string;
}

const oddValues: readonly unknown[] = [null, [null], [], {}, [[{}]], { '': null }, 'x', '', -1, 1e99, true, 'x'.repeat(3_000)];
const oddParts: readonly string[] = [
  '%zz',
  '%',
  '%00',
  '%2F',
  '%F0%9F',
  '..',
  '__proto__',
  'constructor',
  '-1',
  'null',
  'x'.repeat(300),
];

const pick = <T>(from: readonly T[], rng: Rng): T => from[rng.int(from.length)] as T;

/** The same value, with something else in one place of it. */
function spoiled(value: unknown, rng: Rng): unknown {
  const isInner = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
  if (!isInner || rng.int(5) === 0) return pick(oddValues, rng);
  const key = pick(Object.keys(value), rng);
  const inside = spoiled((value as Record<string, unknown>)[key], rng);
  return Array.isArray(value) ? value.with(Number(key), inside) : { ...value, [key]: inside };
}

function spoiledPath(path: string, rng: Rng): string {
  const [pathname = '', query = ''] = path.split('?');
  const fields = query === '' ? [] : query.split('&');
  if (fields.length > 0 && rng.int(3) === 0) {
    const at = rng.int(fields.length);
    return `${pathname}?${fields.with(at, `${fields[at]?.split('=')[0]}=${pick(oddParts, rng)}`).join('&')}`;
  }
  const parts = pathname.split('/');
  const odd = parts.with(1 + rng.int(parts.length - 1), pick(oddParts, rng)).join('/');
  return query === '' ? odd : `${odd}?${query}`;
}

const quoted = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** What providers have named, by the name of the parameter in an operation's path. */
function namesOf(sent: readonly Sent[], templates: readonly string[]): Map<string, string[]> {
  const names = new Map<string, string[]>();
  for (const template of templates) {
    const parameters = [...template.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => name);
    const source = template.split(/\{[^}]+\}/).map(quoted);
    const pattern = new RegExp(`^${source.join('([^/]+)')}$`, 'i');
    for (const { path } of sent)
      for (const [index, value] of (pattern.exec(path.split('?')[0] ?? '') ?? []).slice(1).entries())
        names.set(parameters[index] ?? '', [...(names.get(parameters[index] ?? '') ?? []), value]);
  }
  return names;
}

/** Requests of a provider, each with something odd in it, and requests for every operation of the API, of things that are there and that are not. */
export function* oddRequests(sent: readonly Sent[], operations: readonly string[], rng: Rng, each: number): Generator<Sent> {
  const names = namesOf(
    sent,
    operations.map((operation) => operation.split(' ')[1] ?? ''),
  );
  const valueFor = (parameter: string): string => pick(rng.int(6) === 0 ? oddParts : (names.get(parameter) ?? ['1']), rng);
  const bodies = sent.map(({ body }) => body).filter((body) => body !== '');
  const queries = [...new Set(sent.map(({ path }) => path.split('?')[1] ?? ''))];
  const oddBody = (body: string): string => (body === '' ? '' : JSON.stringify(spoiled(JSON.parse(body), rng)));
  for (const { method, path, body } of sent)
    for (let count = 0; count < each; count++)
      yield count % 3 === 2
        ? { method, path: spoiledPath(path, rng), body }
        : { method, path, body: rng.int(8) === 0 ? '' : oddBody(body) };
  for (const operation of operations)
    for (let count = 0; count < each; count++) {
      const [method = '', template = ''] = operation.split(' ');
      const path = template.replaceAll(/\{([^}]+)\}/g, (_, parameter: string) => valueFor(parameter));
      const query = path.includes('?') ? '' : pick(queries, rng);
      const body = method === 'GET' ? '' : rng.int(3) === 0 ? JSON.stringify(pick(oddValues, rng)) : oddBody(pick(bodies, rng));
      yield { method, path: query === '' ? path : `${path}?${query}`, body };
    }
}
