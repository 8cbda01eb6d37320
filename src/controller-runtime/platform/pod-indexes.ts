// Indexes of pods that several loops share. Informers are shared, so an index of one name must mean one thing.
import type { Pod } from '#api/core/v1';
import type { Indexers } from '#client';

/** The name of the index of pods by the name of their node. */
export const podsByNode = 'nodeName';
/** Pods by the claims they use, as `namespace/name`; those made for ephemeral volumes among them. */
export const podsByClaim = 'claim';

const claimsOf = ({ metadata, spec }: Pod): string[] =>
  (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    const claim = persistentVolumeClaim?.claimName ?? (ephemeral ? `${metadata.name}-${name}` : undefined);
    return claim === undefined ? [] : [`${metadata.namespace}/${claim}`];
  });

export const nodeIndexer: Indexers<Pod> = { [podsByNode]: ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []) };
export const claimIndexer: Indexers<Pod> = { [podsByClaim]: claimsOf };
