// Filters of lists: the regular expressions of old (`name eq web-.*`, several in brackets), and the comparisons of today (`name = "web"`, joined by AND).
import { RE2JS } from 're2js';
import { invalid } from './refusals.ts';
import type { Resource } from './resource.ts';

const regular = /^\s*([\w.]+)\s+(eq|ne)\s+(?:"([^"]*)"|'([^']*)'|(\S+))\s*$/;
const simple = /^\s*([\w.]+)\s*(=|!=|:)\s*(?:"([^"]*)"|(\S+))\s*$/;

const fieldOf = (resource: Resource, path: string): string =>
  String(path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], resource) ?? '');

const patternCharsMax = 1_000;

/** In RE2's syntax, as the vendor's, and in time linear in what it is compared with. Throws a refusal. */
function compiled(pattern: string, filter: string): RE2JS {
  try {
    if (pattern.length <= patternCharsMax) return RE2JS.compile(pattern);
  } catch {
    // What RE2 cannot read is refused like what is too long.
  }
  throw invalid('filter', filter.slice(0, patternCharsMax));
}

function condition(text: string): (resource: Resource) => boolean {
  const [, field, operator, ...values] = regular.exec(text) ?? [];
  if (field !== undefined) {
    const pattern = compiled(values.find((value) => value !== undefined) ?? '', text);
    return (resource) => pattern.matches(fieldOf(resource, field)) === (operator === 'eq');
  }
  const [, name, comparison, quoted, bare] = simple.exec(text) ?? [];
  if (name === undefined) throw invalid('filter', text);
  const wanted = quoted ?? bare ?? '';
  return (resource) => {
    const value = fieldOf(resource, name);
    if (comparison === ':') return value.includes(wanted.replaceAll('*', ''));
    return (value === wanted) === (comparison === '=');
  };
}

/** Throws a refusal for a filter that cannot be read. */
export function filterOf(filter: string | null): (resource: Resource) => boolean {
  if (!filter) return () => true;
  const grouped = [...filter.matchAll(/\(([^()]*)\)/g)].map(([, inner]) => inner ?? '');
  const parts = (grouped.length > 0 ? grouped : [filter]).flatMap((part) => part.split(/\s+AND\s+/));
  const conditions = parts.map(condition);
  return (resource) => conditions.every((holds) => holds(resource));
}
