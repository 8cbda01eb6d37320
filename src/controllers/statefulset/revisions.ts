// The revisions of a StatefulSet's template: the one its pods had and the one they get (pkg/controller/statefulset).
import type { ControllerRevision, StatefulSet, StatefulSetSpec } from '#api/apps/v1';
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
  renumber,
  revisionData,
  revisionHashLabel,
} from '#controller-runtime/workload';
import { revisionNameLabel } from './kind.ts';

const nameMax = 223;

const hashOf = ({ spec, status }: StatefulSet): string =>
  stableHash(spec && revisionData(spec.template), status?.collisionCount ?? 0);

/** The name its next revision gets. */
export const revisionName = (set: StatefulSet): string => `${(set.metadata.name ?? '').slice(0, nameMax)}-${hashOf(set)}`;

export interface Revisions {
  current: ControllerRevision;
  update: ControllerRevision;
  effects: Effect[];
}

/**
 * The revisions of a StatefulSet, its current template's among them; undefined where the name of a new one is taken by another, so that
 * another hash must be tried.
 */
export function revisionsOf(
  set: StatefulSet,
  spec: StatefulSetSpec,
  known: readonly ControllerRevision[],
  holder: ControllerRevision | undefined,
): Revisions | undefined {
  const sorted = [...known].sort(byRevision);
  const equal = sorted.filter((revision) => holdsTemplate(revision, spec.template)).at(-1);
  if (!equal && holder) return undefined;
  const number = highestRevision(sorted) + 1;
  const update =
    equal ??
    newRevision({
      owner: set,
      template: spec.template,
      name: revisionName(set),
      revision: number,
      labels: { [revisionNameLabel]: hashOf(set) },
    });
  const effects = !equal ? [createRevision(update)] : equal === sorted.at(-1) ? [] : [renumber(equal, number)];
  const current = sorted.find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? update;
  return { current, update, effects };
}

/** Revisions that no pod is of, beyond the limit, lowest first. */
export function truncate(
  spec: StatefulSetSpec,
  known: readonly ControllerRevision[],
  { current, update }: Revisions,
  pods: readonly Pod[],
): Effect[] {
  const live = new Set([
    current.metadata.name,
    update.metadata.name,
    ...pods.map(({ metadata }) => metadata.labels?.[revisionHashLabel]),
  ]);
  const unused = [...known].sort(byRevision).filter(({ metadata }) => !live.has(metadata.name));
  const limit = spec.revisionHistoryLimit ?? 10;
  return limit < 0 ? [] : unused.slice(0, Math.max(0, unused.length - limit)).map(deleteRevision);
}
