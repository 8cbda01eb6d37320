// What tells the resources of this cluster from those of others in the same project: an ID that is kept in the ConfigMap kube-system/ingress-uid, which
// Google's other controllers read and make as well (cloud-provider-gcp gce_clusterid.go).
import { randomBytes } from 'node:crypto';
import type { CloudClient, KubeObject } from 'sagong/cloud-provider';
import { statusReasonOf } from 'sagong/cloud-provider/kit';

interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}

const configMaps = { group: '', version: 'v1', resource: 'configmaps' };
const name = 'ingress-uid';
const namespace = 'kube-system';
const idBytes = 8;

const idIn = ({ data = {} }: ConfigMap): string | undefined => data['provider-uid'] || data['uid'] || undefined;

/** A function that gives the ID; makes one when the cluster has none. Rejects until a client is there. */
export function clusterIdSource(clientOf: () => CloudClient | undefined): () => Promise<string> {
  let known: Promise<string> | undefined;

  async function read(): Promise<string> {
    const client = clientOf();
    if (!client) throw new Error('Cloud.ClusterID is not ready. Call Initialize() before using');
    const resource = client.resource<ConfigMap>(configMaps, namespace);
    const get = (): Promise<ConfigMap | undefined> =>
      resource.get(name).catch((error: unknown) => {
        if (statusReasonOf(error) !== 'NotFound') throw error;
        return undefined;
      });
    const made = async (): Promise<ConfigMap | undefined> => {
      const id = randomBytes(idBytes).toString('hex');
      const wanted = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, namespace },
        data: { uid: id, 'provider-uid': id },
      };
      return resource.create(wanted).catch((error: unknown) => {
        if (statusReasonOf(error) !== 'AlreadyExists') throw error;
        return get();
      });
    };
    const id = idIn((await get()) ?? (await made()) ?? ({} as ConfigMap));
    if (id === undefined) throw new Error(`the ConfigMap ${namespace}/${name} holds no uid`);
    return id;
  }
  return () => {
    known ??= read().catch((error: unknown) => {
      known = undefined;
      throw error;
    });
    return known;
  };
}
