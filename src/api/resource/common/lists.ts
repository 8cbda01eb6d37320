// Lists and maps with a limit, whose items are looked at one by one (pkg/apis/resource/validation, validateSlice, validateSet, validateMap).
import type { Path } from '#apimachinery/field';
import type { Report } from '../../common/report.ts';

type ItemRule<T> = (item: T, path: Path) => void;

/** Too long a list is not looked at any further. */
export function validateSlice<T>(
  report: Report,
  path: Path,
  items: readonly T[] | undefined,
  max: number,
  rule: ItemRule<T>,
): boolean {
  if (!items) return true;
  if (items.length > max) {
    report.tooMany(path, items.length, max);
    return false;
  }
  items.forEach((item, index) => rule(item, path.index(index)));
  return true;
}

/** A list without duplicates. `keyOf` gives what is compared and shown. */
export function validateSet<T>(
  report: Report,
  path: Path,
  items: readonly T[] | undefined,
  max: number,
  rule: ItemRule<T>,
  keyOf: (item: T) => unknown,
): void {
  if (!items || !validateSlice(report, path, items, max, rule)) return;
  const seen = new Set<string>();
  items.forEach((item, index) => {
    const key = keyOf(item);
    const text = JSON.stringify(key);
    if (seen.has(text)) report.duplicate(path.index(index), key);
    seen.add(text);
  });
}

const shownMin = 16;

/** Long keys lose their middle in paths. */
function shown(key: string, bytesMax: number): string {
  const max = Math.max(bytesMax, shownMin);
  if (key.length <= max) return key;
  const rest = max - 3;
  return `${key.slice(0, Math.floor((rest + 1) / 2))}...${key.slice(key.length - Math.floor(rest / 2))}`;
}

export interface MapRules<T> {
  max?: number;
  keyBytesMax: number;
  key(key: string, path: Path): void;
  item?: ItemRule<T>;
}

export function validateMap<T>(report: Report, path: Path, map: Record<string, T> | undefined, rules: MapRules<T>): void {
  const entries = Object.entries(map ?? {});
  if (rules.max !== undefined && entries.length > rules.max) return report.tooMany(path, entries.length, rules.max);
  for (const [key, item] of entries) {
    rules.key(key, path);
    rules.item?.(item, path.key(shown(key, rules.keyBytesMax)));
  }
}
