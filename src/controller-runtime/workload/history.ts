// Revisions of a pod template, kept as ControllerRevisions (pkg/controller/history): what DaemonSets and StatefulSets roll back to.
import type { ControllerRevision } from '#api/apps/v1';
import type { PodTemplateSpec } from '#api/core/v1';
import { type KubeObject, parseApiVersion } from '#apimachinery/meta';
import { deepEqual } from '#utils';
import { controllerRef, type Effect } from '../types.ts';
import { typed } from './pod-control.ts';
import { controllerRevisions } from './resources.ts';

export const revisionHashLabel = 'controller-revision-hash';

/** Keys in the order of their bytes, as Go's encoder writes maps. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, field]) => [key, sorted(field)]));
}

/** What a revision stores: a strategic merge patch that puts the template back. Others compare its bytes, so they are upstream's. */
export const revisionData = (template: PodTemplateSpec): unknown =>
  sorted({ spec: { template: { ...template, $patch: 'replace' } } });

export const holdsTemplate = ({ data }: ControllerRevision, template: PodTemplateSpec): boolean =>
  deepEqual(data, revisionData(template));

/** The template a revision stores; undefined when its data is something else. */
export function templateOf({ data }: ControllerRevision): PodTemplateSpec | undefined {
  const template = (data as { spec?: { template?: PodTemplateSpec & { $patch?: string } } } | undefined)?.spec?.template;
  if (!template) return undefined;
  const { $patch: _, ...rest } = template;
  return rest;
}

const createdMs = ({ metadata }: ControllerRevision): number => Date.parse(metadata.creationTimestamp ?? '') || 0;

/** Compares two revisions so that the lowest comes first. */
export const byRevision = (a: ControllerRevision, b: ControllerRevision): number =>
  a.revision - b.revision || createdMs(a) - createdMs(b) || ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1);

export const highestRevision = (revisions: readonly ControllerRevision[]): number =>
  Math.max(0, ...revisions.map(({ revision }) => revision));

interface NewRevision {
  owner: KubeObject;
  template: PodTemplateSpec;
  name: string;
  revision: number;
  labels: Record<string, string>;
}

/** A revision of `owner` (with its kind set), with the owner's annotations. */
export function newRevision({ owner, template, name, revision, labels }: NewRevision): ControllerRevision {
  const { group, version } = parseApiVersion(owner.apiVersion ?? '');
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name,
      namespace: owner.metadata.namespace,
      labels: { ...template.metadata?.labels, ...labels },
      ...(owner.metadata.annotations && { annotations: owner.metadata.annotations }),
      ownerReferences: [controllerRef(owner, group, version, owner.kind ?? '')],
    },
    data: revisionData(template),
    revision,
  };
}

export const createRevision = (revision: ControllerRevision): Effect => ({
  op: 'create',
  resource: controllerRevisions,
  object: revision,
});

/** Makes an old revision the newest again. */
export function renumber(source: ControllerRevision, revision: number): Effect {
  const object: ControllerRevision = { ...typed(source, 'apps/v1', 'ControllerRevision'), revision };
  return { op: 'update', resource: controllerRevisions, object };
}

export const deleteRevision = ({ metadata }: ControllerRevision): Effect => ({
  op: 'delete',
  ref: { resource: controllerRevisions, namespace: metadata.namespace ?? '', name: metadata.name ?? '' },
});
