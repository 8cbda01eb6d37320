// Routes as text, the same for what is wanted and what the kernel shows.
import { mainTable } from './types.ts';

export interface RouteParts {
  /** Prefix; `default` for all. */
  destination: string;
  table?: number;
  kind?: 'unicast' | 'blackhole' | 'unreachable';
  via?: string;
  link?: string;
  source?: string;
}

const canonical = (destination: string): string => {
  if (destination === '0.0.0.0/0') return 'default';
  return destination.endsWith('/32') ? destination.slice(0, -3) : destination;
};

/** An entry of a namespace's routes: its key and the words that make it. */
export function routeEntry({
  destination,
  table = mainTable,
  kind = 'unicast',
  via,
  link,
  source,
}: RouteParts): [string, string] {
  const to = canonical(destination);
  const words = [
    ...(kind === 'unicast' ? [] : [kind]),
    to,
    ...(via ? ['via', via] : []),
    ...(link ? ['dev', link] : []),
    ...(source ? ['src', source] : []),
    'table',
    String(table),
  ];
  return [`${table} ${to}`, words.join(' ')];
}
