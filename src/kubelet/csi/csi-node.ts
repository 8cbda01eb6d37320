// What the API knows of this node's drivers: the CSINode of its name, the node's annotation with the names that drivers have for it, and labels of their topology
// (upstream pkg/volume/csi/nodeinfomanager).
import type { Node } from '#api/core/v1';
import type { CSINode, CSINodeDriver } from '#api/storage/v1';
import { isAlreadyExists, isConflict, isNotFound } from '#apimachinery/errors';
import type { KubeClient } from '#client';
import { csiNodeRetries } from '../limits.ts';
import type { NodeInfo } from './driver.ts';

const csiNodes = { group: 'storage.k8s.io', version: 'v1', resource: 'csinodes' };
const nodes = { group: '', version: 'v1', resource: 'nodes' };
const nodeIdAnnotation = 'csi.volume.kubernetes.io/nodeid';

type Drivers = CSINodeDriver[];

export interface CsiNodeDeps {
  client: KubeClient;
  nodeName: string;
}

export class CsiNodes {
  readonly #deps: CsiNodeDeps;
  constructor(deps: CsiNodeDeps) {
    this.#deps = deps;
  }

  /** Makes the CSINode where it is missing: the scheduler counts the volumes only of nodes that have one. */
  async ensure(): Promise<void> {
    await this.#change((drivers) => drivers);
  }
  async add(driver: string, { nodeId, maxVolumes, topology }: NodeInfo): Promise<void> {
    if (nodeId === '') throw new Error(`error getting node ID of driver ${driver}: it is empty`);
    const keys = Object.keys(topology).sort();
    await this.#describeNode({ [driver]: nodeId }, topology);
    await this.#change((drivers) => [
      ...drivers.filter(({ name }) => name !== driver),
      {
        name: driver,
        nodeID: nodeId,
        topologyKeys: keys.length > 0 ? keys : null,
        ...(maxVolumes > 0 && { allocatable: { count: maxVolumes } }),
      } as CSINodeDriver,
    ]);
  }
  async remove(driver: string): Promise<void> {
    await this.#change((drivers) => drivers.filter(({ name }) => name !== driver));
    await this.#describeNode({ [driver]: undefined }, {});
  }

  async #change(next: (drivers: Drivers) => Drivers): Promise<void> {
    const { client, nodeName } = this.#deps;
    const resource = client.resource<CSINode>(csiNodes);
    for (let attempt = 1; ; attempt++) {
      try {
        const known = await resource.get(nodeName).catch((error: unknown) => {
          if (!isNotFound(error)) throw error;
          return undefined;
        });
        const drivers = known?.spec?.drivers ?? [];
        const wanted = next(drivers);
        if (!known) await resource.create(await this.#fresh(wanted));
        else if (JSON.stringify(wanted) !== JSON.stringify(drivers))
          await resource.update({ ...known, spec: { ...known.spec, drivers: wanted } });
        return;
      } catch (error) {
        if (attempt >= csiNodeRetries || !(isConflict(error) || isAlreadyExists(error))) throw error;
      }
    }
  }
  async #fresh(drivers: Drivers): Promise<CSINode> {
    const { client, nodeName: name } = this.#deps;
    const { uid = '' } = (await client.resource<Node>(nodes).get(name)).metadata;
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid }];
    return { apiVersion: 'storage.k8s.io/v1', kind: 'CSINode', metadata: { name, ownerReferences }, spec: { drivers } };
  }
  /** An undefined id is taken away. A label that somebody else has set otherwise refuses the driver. */
  async #describeNode(ids: Record<string, string | undefined>, labels: Record<string, string>): Promise<void> {
    const { client, nodeName } = this.#deps;
    const resource = client.resource<Node>(nodes);
    const { metadata } = await resource.get(nodeName);
    for (const [key, value] of Object.entries(labels)) {
      const known = metadata.labels?.[key];
      if (known !== undefined && known !== value)
        throw new Error(
          `detected topology value collision: driver reported ${key}:${value} but existing label is ${key}:${known}`,
        );
    }
    const before = metadata.annotations?.[nodeIdAnnotation];
    const all = { ...(before === undefined ? {} : (JSON.parse(before) as Record<string, string>)), ...ids };
    const after = JSON.stringify(all);
    const annotation = after === '{}' ? null : after;
    const missing = Object.keys(labels).some((key) => metadata.labels?.[key] === undefined);
    if (!missing && (before ?? null) === annotation) return;
    const changed = { ...(missing && { labels }), annotations: { [nodeIdAnnotation]: annotation } };
    await resource.patch(nodeName, 'application/strategic-merge-patch+json', { metadata: changed });
  }
}
