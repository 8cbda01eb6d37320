// Cells of `kubectl get` (pkg/printers/internalversion; k8s.io/apimachinery/pkg/util/duration). Times are milliseconds since the epoch.
import type { LabelSelector } from '#apimachinery/labels';
import { fromLabelSelector } from '#apimachinery/labels';
import type { ObjectMeta } from '#apimachinery/meta';
import type { Column } from '../kind.ts';

export type Cell = string | number | boolean | null;

const second = 1;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

/** A length of time in at most two units, coarser the longer it is. `ms` may be negative by clock skew of up to two seconds. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 2 * minute) return `${seconds}s`;
  const two = (big: number, bigUnit: string, small: number, smallUnit: string): string => {
    const whole = Math.trunc(seconds / big);
    const rest = Math.trunc((seconds % big) / small);
    return rest === 0 ? `${whole}${bigUnit}` : `${whole}${bigUnit}${rest}${smallUnit}`;
  };
  if (seconds < 10 * minute) return two(minute, 'm', second, 's');
  if (seconds < 3 * hour) return `${Math.trunc(seconds / minute)}m`;
  if (seconds < 8 * hour) return two(hour, 'h', minute, 'm');
  if (seconds < 2 * day) return `${Math.trunc(seconds / hour)}h`;
  if (seconds < 8 * day) return two(day, 'd', hour, 'h');
  if (seconds < 2 * year) return `${Math.trunc(seconds / day)}d`;
  if (seconds < 8 * year) return two(year, 'y', day, 'd');
  return `${Math.trunc(seconds / year)}y`;
}

/** How long ago a time was; `<unknown>` for none. */
export const ago = (time: string | null | undefined, now: number): string =>
  time ? humanDuration(now - Date.parse(time)) : '<unknown>';

export const age = ({ creationTimestamp }: ObjectMeta, now: number): string => ago(creationTimestamp, now);

/** The text as kubectl shows it: `<none>` where it is empty. */
export const orNone = (text: string | undefined): string => text || '<none>';

/** A label selector in text form; `<error>` when it is not a valid selector. Absent: `<none>`. */
export function formatSelector(selector: LabelSelector | undefined): string {
  if (selector === undefined) return '<none>';
  try {
    return orNone(fromLabelSelector(selector).toString());
  } catch {
    return '<error>';
  }
}

/** Writes labels as `a=b,c=d`, sorted by their keys; `<none>` where there are none. */
export function formatLabels(labels: Record<string, string> | undefined): string {
  const text = Object.keys(labels ?? {})
    .sort()
    .map((key) => `${key}=${labels?.[key]}`)
    .join(',');
  return orNone(text);
}

/** Writes at most `max` items, and how many more there are. */
export function formatList(items: readonly string[], max: number, count: number = items.length): string {
  return count > max ? `${items.slice(0, max).join(',')} + ${count - max} more...` : items.join(',');
}

interface ColumnOptions {
  type?: Column['type'];
  wide?: boolean;
  name?: boolean;
}

/** One column; `wide`: only with `-o wide`. */
export function column(name: string, options: ColumnOptions = {}): Column {
  return {
    name,
    type: options.type ?? 'string',
    ...(options.name && { format: 'name' }),
    ...(options.wide && { priority: 1 }),
  };
}

/** Columns that show texts, of which the first is the name. */
export const columns = (...names: string[]): Column[] => names.map((name, index) => column(name, { name: index === 0 }));

/** Columns of type string that are shown only with `-o wide`. */
export const wideColumns = (...names: string[]): Column[] => names.map((name) => column(name, { wide: true }));
