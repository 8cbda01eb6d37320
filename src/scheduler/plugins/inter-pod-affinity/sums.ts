// Sums per topology key and value, as columns over the snapshot's label values (upstream topologyToMatchedTermCount, scoreMap).
import { affinityGroupsMax, type LabelColumn, type NodeInfo, type PodInfo, type Snapshot } from '../../framework/index.ts';

interface Sums {
  readonly column: LabelColumn;
  /** Sums by the place of the value in the column. */
  readonly values: Float64Array;
}

/** Sums by topology key. Only keys are in it for which some node has a sum. */
export type TopologySums = Map<string, Sums>;

function sumsOf(sums: TopologySums, key: string, snapshot: Snapshot): Sums {
  let known = sums.get(key);
  if (known === undefined) {
    const column = snapshot.labelColumn(key);
    sums.set(key, (known = { column, values: new Float64Array(column.values.length) }));
  }
  return known;
}

/** Adds `by` at the node's value of `key`. */
export function addSum(sums: TopologySums, { index }: NodeInfo, key: string, by: number, snapshot: Snapshot): void {
  const id = snapshot.labelColumn(key).ids[index] as number;
  if (id < 0) return;
  const { values } = sumsOf(sums, key, snapshot);
  values[id] = (values[id] as number) + by;
}

/** Adds `by` for each counted pod at its node's value of `key`. */
export function addCounts(sums: TopologySums, counts: Int32Array, key: string, by: number, snapshot: Snapshot): void {
  const { ids } = snapshot.labelColumn(key);
  let values: Float64Array | undefined;
  for (let i = 0; i < counts.length; i++) {
    const count = counts[i] as number;
    const id = ids[i] as number;
    if (count === 0 || id < 0) continue;
    values ??= sumsOf(sums, key, snapshot).values;
    values[id] = (values[id] as number) + count * by;
  }
}

export function sumAt(sums: TopologySums, { index }: NodeInfo, key: string): number {
  const known = sums.get(key);
  const id = known === undefined ? -1 : (known.column.ids[index] as number);
  return id < 0 ? 0 : ((known as Sums).values[id] as number);
}

export const copySums = (sums: TopologySums): TopologySums =>
  new Map([...sums].map(([key, { column, values }]) => [key, { column, values: values.slice() }]));

export const anySum = (sums: TopologySums): boolean => [...sums.values()].some(({ values }) => values.some((sum) => sum > 0));

/** What pods already there ask for, `by` times each. */
export type Asked = (pod: PodInfo) => readonly { topologyKey: string; by: number }[];

/** Adds up what placed pods with affinity ask for. Equal pods are asked once. */
export function addAsked(sums: TopologySums, snapshot: Snapshot, asked: Asked): void {
  if (snapshot.affinityGroups.size > affinityGroupsMax) {
    for (const node of snapshot.nodesWithAffinity) {
      for (const pod of node.podsWithAffinity.values()) {
        for (const { topologyKey, by } of asked(pod)) addSum(sums, node, topologyKey, by, snapshot);
      }
    }
    return;
  }
  for (const [group, { sample }] of snapshot.affinityGroups) {
    for (const { topologyKey, by } of asked(sample)) {
      const counts = snapshot.podCounts(`group ${group}`, ({ affinityKey }) => affinityKey === group);
      addCounts(sums, counts, topologyKey, by, snapshot);
    }
  }
}
