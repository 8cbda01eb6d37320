// The message of a pod that fits nowhere (upstream scheduler framework.FitError): reasons with their counts, sorted as text.
import type { Status } from './status.ts';

export const noNodesMessage = 'no nodes available to schedule pods';
/** Stands for the plugin that would have turned the pod away: the first node helps. (Upstream lets such a pod wait out its back-off.) */
export const noNodesPlugin = 'NoNodesAvailable';

export interface Diagnosis {
  readonly nodes: number;
  /** Set when no node was looked at. */
  readonly preFilterMessage?: string;
  readonly verdicts: ReadonlyMap<Status, number>;
  /** Why nodes that were not looked at would not do, and how many. */
  readonly absent?: { status: Status; count: number };
  readonly postFilterMessage?: string;
}

function histogram({ verdicts, absent }: Diagnosis): string {
  const counts = new Map<string, number>();
  const count = (status: Status, by: number): void => {
    for (const reason of status.reasons) counts.set(reason, (counts.get(reason) ?? 0) + by);
  };
  for (const [status, by] of verdicts) count(status, by);
  if (absent !== undefined && absent.count > 0) count(absent.status, absent.count);
  return [...counts]
    .map(([reason, by]) => `${by} ${reason}`)
    .sort()
    .join(', ');
}

export function fitErrorMessage(diagnosis: Diagnosis): string {
  const why = diagnosis.preFilterMessage || histogram(diagnosis);
  const after = diagnosis.postFilterMessage ? ` ${diagnosis.postFilterMessage}` : '';
  return `0/${diagnosis.nodes} nodes are available:${why && ` ${why}.`}${after}`;
}
