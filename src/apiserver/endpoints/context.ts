// What every endpoint works with: one value made when the server is built.
import type { Metrics, VersionInfo } from '#component-base';
import type { Logger } from '#utils';
import type { AnswerContext } from './answer-context.ts';
import type { RemoteApis } from './remote-apis.ts';
import type { SpecialRest } from '../registry/special.ts';
import type { ClusterWriter } from '../registry/writer.ts';
import type { ReadOnlyCluster } from '../storage/read-only-cluster.ts';
import type { WriteSettings } from '../registry/generic/types.ts';
import type { ResourceTable } from '../registry/resource-table.ts';

export interface ServerContext extends AnswerContext {
  logger: Logger;
  table: ResourceTable;
  settings: WriteSettings;
  cluster: ReadOnlyCluster;
  writer: ClusterWriter;
  metrics: Metrics;
  version: VersionInfo;
  /** Undefined: there are no other API servers. */
  aggregator: RemoteApis | undefined;
  /** `host:port` shown by legacy discovery. */
  address(): string;
  special(group: string, version: string, resource: string, subresource: string): SpecialRest | undefined;
}
