// The instances behind load balancers: one list of all of the cluster's, kept for some minutes, because every Service asks for nearly all Nodes.
import type { Instance } from '@aws-sdk/client-ec2';
import type { Clock, Logger, Node } from 'sagong/cloud-provider';
import { textOf } from 'sagong/cloud-provider/kit';
import type { Api } from '../clients.ts';
import { backendsAgeMaxMs } from '../limits.ts';
import type { ClusterTags } from '../tags.ts';
import { allInstances, isGone } from './describe.ts';
import { instanceIdOfProviderId, isFargate } from './provider-id.ts';

export interface BackendInstances {
  /** Instances of these Nodes by id. Nodes without a usable provider ID, and instances that are gone or unknown, are left out. */
  of(nodes: readonly Node[]): Promise<Map<string, Instance>>;
  /** The next question is asked of AWS: a load balancer did not take an instance of the list. */
  forget(): void;
}

interface Snapshot {
  at: number;
  instances: Map<string, Instance>;
}

export function createBackendInstances(api: Api, cluster: ClusterTags, clock: Clock, logger: Logger): BackendInstances {
  let snapshot: Snapshot | undefined;
  let underWay: Promise<Snapshot> | undefined;

  async function read(): Promise<Snapshot> {
    const at = clock.monotonic();
    const found = await allInstances(api, cluster);
    snapshot = { at, instances: new Map(found.map((instance) => [instance.InstanceId ?? '', instance])) };
    return snapshot;
  }
  const fresh = (): Promise<Snapshot> =>
    (underWay ??= read().finally(() => {
      underWay = undefined;
    }));

  function idsOf(nodes: readonly Node[]): string[] {
    return nodes.flatMap(({ metadata, spec }) => {
      try {
        if (!spec?.providerID) throw new Error('it has no provider ID');
        const id = instanceIdOfProviderId(spec.providerID);
        return isFargate(id) ? [] : [id];
      } catch (error) {
        logger.warn('node is left out of load balancers', { node: metadata.name, error: textOf(error) });
        return [];
      }
    });
  }

  return {
    forget() {
      snapshot = undefined;
    },
    async of(nodes) {
      const ids = idsOf(nodes);
      const usable =
        snapshot !== undefined &&
        clock.monotonic() - snapshot.at <= backendsAgeMaxMs &&
        ids.every((id) => snapshot?.instances.has(id));
      const { instances } = usable
        ? (snapshot as Snapshot)
        : ids.length === 0
          ? { instances: new Map<string, Instance>() }
          : await fresh();
      return new Map(
        ids.flatMap((id) => {
          const instance = instances.get(id);
          return instance && !isGone(instance) ? [[id, instance] as const] : [];
        }),
      );
    },
  };
}
