// What a provider writes into the cluster beside its answers: events that a user can act on, annotations, finalizers and conditions of Services.
// Nothing is written before the lease is won, when `initialize` connects a client.
import type { KubeObject } from '#apimachinery/meta';
import type { Clock, Logger } from '#utils';
import type { CloudClient } from '../types.ts';
import { causesOf, textOf } from './failure.ts';

export interface WrittenObject extends Pick<KubeObject, 'metadata'> {
  kind?: string;
}
export interface PatchOptions {
  /** Default: a merge patch. */
  type?: 'application/merge-patch+json' | 'application/strategic-merge-patch+json';
  subresource?: string;
}

export interface ClusterWriter {
  connect(client: CloudClient): void;
  /** The client of the cluster; undefined before `connect`. */
  client(): CloudClient | undefined;
  /** Changes a Service. Rejects when the cluster refuses. */
  patchService(service: WrittenObject, body: unknown, options?: PatchOptions): Promise<void>;
  /** Adds a finalizer that is not there. */
  addFinalizer(service: WrittenObject, finalizer: string): Promise<void>;
  /** Removes a finalizer that is there. When the Service is gone there is nothing left to do, and that is no error. */
  removeFinalizer(service: WrittenObject, finalizer: string): Promise<void>;
  /** An event about a Service. A failure to write it is only logged. */
  event(service: WrittenObject, type: 'Normal' | 'Warning', reason: string, message: string): Promise<void>;
}

const strategic: PatchOptions = { type: 'application/strategic-merge-patch+json' };

/** Why the cluster refused, as `NotFound`: the reason of its Status. Undefined: the error is another one. */
export function statusReasonOf(error: unknown): string | undefined {
  for (const { status } of causesOf(error))
    if (typeof status === 'object' && status !== null && 'reason' in status && typeof status.reason === 'string')
      return status.reason;
  return undefined;
}

/** `component`: the source of the events, as upstream's provider calls itself. */
export function createClusterWriter(deps: { component: string; clock: Pick<Clock, 'now'>; logger: Logger }): ClusterWriter {
  const { component, clock, logger } = deps;
  let client: CloudClient | undefined;
  const has = ({ metadata }: WrittenObject, finalizer: string): boolean => metadata.finalizers?.includes(finalizer) ?? false;

  async function patchService(service: WrittenObject, body: unknown, options: PatchOptions = {}): Promise<void> {
    const { namespace = '', name = '' } = service.metadata;
    const { type = 'application/merge-patch+json', subresource } = options;
    if (!client) return;
    const target = { group: '', version: 'v1', resource: 'services', namespace, name, ...(subresource && { subresource }) };
    try {
      await client.transport.call({ verb: 'patch', ...target, patch: { type, body } });
    } catch (error) {
      throw new Error(`failed to patch service object ${namespace}/${name}: ${textOf(error)}`, { cause: error });
    }
  }
  return {
    connect(connected) {
      client = connected;
    },
    client: () => client,
    patchService,
    async addFinalizer(service, finalizer) {
      if (!has(service, finalizer)) await patchService(service, { metadata: { finalizers: [finalizer] } }, strategic);
    },
    async removeFinalizer(service, finalizer) {
      if (!has(service, finalizer)) return;
      const body = { metadata: { '$deleteFromPrimitiveList/finalizers': [finalizer] } };
      await patchService(service, body, strategic).catch((error: unknown) => {
        if (statusReasonOf(error) !== 'NotFound') throw error;
      });
    },
    async event({ metadata: { namespace = '', name = '', uid = '' } }, type, reason, message) {
      const nowMs = clock.now();
      const at = new Date(nowMs).toISOString().replace(/\.\d+Z$/, 'Z');
      const event = {
        metadata: { name: `${name}.${(BigInt(Math.floor(nowMs)) * 1_000_000n).toString(16)}`, namespace },
        involvedObject: { kind: 'Service', namespace, name, uid, apiVersion: 'v1' },
        reason,
        message,
        type,
        source: { component },
        firstTimestamp: at,
        lastTimestamp: at,
        count: 1,
      };
      try {
        await client?.resource({ group: '', version: 'v1', resource: 'events' }, namespace).create(event);
      } catch (error) {
        logger.warn('could not write an event', { service: `${namespace}/${name}`, reason, error: textOf(error) });
      }
    },
  };
}
