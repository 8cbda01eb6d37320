// What discovery and OpenAPI need to know of other API servers behind this one; `aggregation` knows it.
import type { Incoming } from '../chain/incoming.ts';
import type { Outcome } from '../chain/outcome.ts';
import type { ServedGroup } from '../registry/resource-table.ts';

export interface AggregatedResource {
  resource: string;
  responseKind: { group: string; version: string; kind: string };
  scope: 'Namespaced' | 'Cluster';
  singularResource: string;
  verbs: readonly string[];
  shortNames?: readonly string[];
  categories?: readonly string[];
  subresources?: {
    subresource: string;
    responseKind: { group: string; version: string; kind: string };
    verbs: readonly string[];
  }[];
}

export interface RemoteVersion {
  resources: readonly AggregatedResource[];
  freshness: 'Current' | 'Stale';
}

export interface RemoteApis {
  /** Groups served here and elsewhere, in order. */
  groups(locals: readonly ServedGroup[]): readonly ServedGroup[];
  /** What another API server serves of a group version; undefined: it is served here. */
  version(group: string, version: string): RemoteVersion | undefined;
  readonly openApi: {
    /** Specifications to merge, those of higher priority first. */
    specsV2(): Record<string, unknown>[];
    indexV3(): Record<string, { serverRelativeURL: string }>;
    /** Serves a document of another server; undefined where no other server has it. */
    serveV3(request: Incoming, document: string): Promise<Outcome | undefined>;
  };
  /** Called when another server's OpenAPI has changed. */
  onOpenApi(handler: () => void): void;
}
