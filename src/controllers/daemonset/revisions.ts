// The revisions of a DaemonSet's template (pkg/controller/daemon/update.go).
import type { ControllerRevision, DaemonSet, DaemonSetSpec } from '#api/apps/v1';
import type { Pod } from '#api/core/v1';
import { stableHash } from '#component-helpers/workload';
import type { Effect } from '#controller-runtime';
import {
  byRevision,
  createRevision,
  deleteRevision,
  highestRevision,
  holdsTemplate,
  newRevision,
  pods as podResource,
  renumber,
  revisionHashLabel,
} from '#controller-runtime/workload';

const hashOf = ({ spec, status }: DaemonSet): string => stableHash(spec?.template, status?.collisionCount);

/** The name its next revision gets. */
export const revisionName = (set: DaemonSet): string => `${set.metadata.name ?? ''}-${hashOf(set)}`;

export interface History {
  /** Label value of pods of the current template; undefined: the name is taken, and another hash must be tried. */
  hash: string | undefined;
  old: ControllerRevision[];
  effects: Effect[];
}

export function historyOf(
  set: DaemonSet,
  spec: DaemonSetSpec,
  revisions: readonly ControllerRevision[],
  holder: ControllerRevision | undefined,
  pods: readonly Pod[],
): History {
  const current = revisions.filter((revision) => holdsTemplate(revision, spec.template)).sort(byRevision);
  const old = revisions.filter((revision) => !current.includes(revision));
  const number = highestRevision(old) + 1;
  const kept = current.at(-1);
  if (!kept) {
    if (holder) return { hash: undefined, old, effects: [] };
    const hash = hashOf(set);
    const fresh = newRevision({
      owner: set,
      template: spec.template,
      name: revisionName(set),
      revision: number,
      labels: { [revisionHashLabel]: hash },
    });
    return { hash, old, effects: [createRevision(fresh)] };
  }
  const hash = kept.metadata.labels?.[revisionHashLabel] ?? kept.metadata.name ?? '';
  return {
    hash,
    old,
    effects: [
      ...(current.length > 1 ? relabel(pods, hash) : []),
      ...current.slice(0, -1).map(deleteRevision),
      ...(kept.revision < number ? [renumber(kept, number)] : []),
    ],
  };
}

/** Pods of doubled revisions belong to the one that stays. */
const relabel = (pods: readonly Pod[], hash: string): Effect[] =>
  pods
    .filter(({ metadata }) => metadata.labels?.[revisionHashLabel] !== hash)
    .map(({ metadata }) => ({
      op: 'patch',
      ref: { resource: podResource, namespace: metadata.namespace ?? '', name: metadata.name ?? '' },
      type: 'application/merge-patch+json',
      body: { metadata: { labels: { [revisionHashLabel]: hash } } },
    }));

/** Old revisions beyond the limit that no pod is of, lowest first. */
export function cleanUp(spec: DaemonSetSpec, old: readonly ControllerRevision[], pods: readonly Pod[]): Effect[] {
  const surplus = old.length - (spec.revisionHistoryLimit ?? 10);
  if (surplus <= 0) return [];
  const live = new Set(pods.map(({ metadata }) => metadata.labels?.[revisionHashLabel]));
  const unused = [...old].sort(byRevision).filter(({ metadata }) => !live.has(metadata.labels?.[revisionHashLabel]));
  return unused.slice(0, surplus).map(deleteRevision);
}
