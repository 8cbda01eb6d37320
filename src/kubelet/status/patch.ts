// The smallest strategic merge patch from one pod status to another (upstream pkg/util/pod PatchPodStatus). Conditions and addresses are merged
// lists, so that the kubelet never overwrites what others wrote beside it.
import type { PodStatus } from '#api/core/v1';
import { equalJson } from '../container/equal-json.ts';

/** Merged lists of PodStatus and the key of their items; every other field is replaced as a whole. */
const mergeKeys: Record<string, string> = { conditions: 'type', podIPs: 'ip', hostIPs: 'ip' };

type Item = Record<string, unknown>;

/** Items to merge in, nulls for fields that go, and deletions of items that are no more. */
function listPatch(before: readonly Item[], after: readonly Item[], key: string): Item[] {
  const patch: Item[] = [];
  for (const item of after) {
    const old = before.find((candidate) => candidate[key] === item[key]);
    if (equalJson(old, item)) continue;
    const gone = Object.keys(old ?? {}).filter((name) => item[name] === undefined);
    patch.push({ ...item, ...Object.fromEntries(gone.map((name) => [name, null])) });
  }
  for (const item of before)
    if (!after.some((candidate) => candidate[key] === item[key])) patch.push({ $patch: 'delete', [key]: item[key] });
  return patch;
}

/** The fields to send; undefined where the statuses are equal. */
export function statusPatch(before: PodStatus, after: PodStatus): Item | undefined {
  const old = before as Item;
  const now = after as Item;
  const patch: Item = {};
  for (const name of new Set([...Object.keys(old), ...Object.keys(now)])) {
    if (equalJson(old[name], now[name])) continue;
    const key = mergeKeys[name];
    if (now[name] === undefined) patch[name] = null;
    else if (key !== undefined && Array.isArray(old[name])) {
      const items = listPatch(old[name] as Item[], now[name] as Item[], key);
      // In another order conditions are the same: a patch without items would change nothing and be sent for ever.
      if (items.length === 0 && name === 'conditions') continue;
      patch[name] = items;
      if (name !== 'conditions') patch[`$setElementOrder/${name}`] = (now[name] as Item[]).map((item) => ({ [key]: item[key] }));
    } else patch[name] = now[name];
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}
