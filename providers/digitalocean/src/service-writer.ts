// What the provider writes into the cluster: annotations of Services, which find a load balancer again, and events about configurations that
// only a person can put right.
import type { Clock, CloudClient, Logger, Service } from 'sagong/cloud-provider';
import { textOf } from 'sagong/cloud-provider/kit';
import { annotationOf, annotations } from './annotations.ts';
import type { LoadBalancer } from './api/types.ts';

const component = 'digitalocean-cloud-controller-manager';

export interface ServiceWriter {
  /** From then on things are written as this client; before, nothing is. */
  connect(client: CloudClient): void;
  /** Sets annotations; the ones that are so already cost no call. Rejects when the cluster refuses. */
  annotate(service: Service, wanted: Readonly<Record<string, string>>): Promise<void>;
  /** An event of type Warning. A failure to write it is only logged. */
  warn(service: Service, reason: string, message: string): Promise<void>;
}

/** The annotations that name the load balancer of a Service. */
export const identityOf = ({ id, type }: LoadBalancer): Record<string, string> => ({
  [annotations.id]: id,
  [annotations.type]: type,
});

/** The Service with these annotations, as the cluster will show it. */
export const annotated = (service: Service, added: Readonly<Record<string, string>>): Service => ({
  ...service,
  metadata: { ...service.metadata, annotations: { ...service.metadata.annotations, ...added } },
});

/** Writes through a client that is connected later, when the lease is won. */
export function createServiceWriter({ clock, logger }: { clock: Clock; logger: Logger }): ServiceWriter {
  let client: CloudClient | undefined;
  return {
    connect(connected) {
      client = connected;
    },
    async annotate(service, wanted) {
      const changed = Object.entries(wanted).filter(([key, value]) => annotationOf(service, key) !== value);
      const { namespace = '', name = '' } = service.metadata;
      if (!client || changed.length === 0) return;
      const body = { metadata: { annotations: Object.fromEntries(changed) } };
      try {
        await client.transport.call({
          verb: 'patch',
          group: '',
          version: 'v1',
          resource: 'services',
          namespace,
          name,
          patch: { type: 'application/merge-patch+json', body },
        });
      } catch (error) {
        throw new Error(`failed to patch service object ${namespace}/${name}: ${textOf(error)}`, { cause: error });
      }
    },
    async warn({ metadata: { namespace = '', name = '', uid = '' } }, reason, message) {
      const nowMs = clock.now();
      const at = new Date(nowMs).toISOString().replace(/\.\d+Z$/, 'Z');
      const event = {
        metadata: { name: `${name}.${(BigInt(nowMs) * 1_000_000n).toString(16)}`, namespace },
        involvedObject: { kind: 'Service', namespace, name, uid, apiVersion: 'v1' },
        reason,
        message,
        type: 'Warning',
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
