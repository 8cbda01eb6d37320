// What tests of managed control planes ask of a cluster, and a pod that they run on it.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NetworkInterface } from '#cloud';
import { type CloudClient, createCloudClient } from '#cloud/client';
import { eventually, type TestCluster } from '../cluster/harness.ts';

export const image = 'sagong.local/tools:1';
/** The control plane's addresses in the customer's network. */
export const inside = ['10.77.0.10', '10.77.16.10'];

export class ManagedKit {
  readonly #cluster: TestCluster;
  constructor(cluster: TestCluster) {
    this.#cluster = cluster;
  }
  /** A file of the cluster. */
  text(path: string): Promise<string> {
    return readFile(join(this.#cluster.dataDir, path), 'utf8');
  }
  async switchTo(mode: string): Promise<void> {
    const output = await this.#cluster.sagong('endpoint-access', mode);
    if (output.code !== 0) throw new Error(output.stderr);
  }
  /** Peers of what a node has open to port 443. */
  async peers(node: number): Promise<string[]> {
    const { stdout } = await this.#cluster.inNode(node, 'ss', '-Htn', 'state', 'established', '( dport = :443 )');
    return [...new Set([...stdout.matchAll(/ ([\d.]+):443\b/g)].map(([, address = '']) => address))].sort();
  }
  /** Resolves when both nodes come by the provider's interfaces, and by nothing else. */
  async nodesComeInside(): Promise<void> {
    for (const node of [1, 2])
      await eventually(`node-${node} comes by the interfaces`, async () => {
        const found = await this.peers(node);
        return found.length > 0 && found.every((peer) => inside.includes(peer));
      });
  }
  /** The cloud as the customer sees it, and the interfaces in there that somebody else manages. */
  async asCustomer<T>(look: (cloud: CloudClient, managed: NetworkInterface[]) => Promise<T>): Promise<T> {
    const { port } = JSON.parse(await this.text('cloud/cloud.json')) as { port: number };
    const token = (await this.text('cloud/customer.token')).trim();
    const cloud = createCloudClient({ url: `https://127.0.0.1:${port}`, token, ca: await this.text('cloud/ca.crt') });
    try {
      const all = (await cloud.listInterfaces({ limit: 100 })).items as NetworkInterface[];
      return await look(
        cloud,
        all.filter(({ requesterManaged }) => requesterManaged),
      );
    } finally {
      cloud.close();
    }
  }
  /** A pod `worker` on the first node that does `script`. */
  async runWorker(script: string): Promise<void> {
    await this.#cluster.loadBusybox(image);
    await eventually('the default service account', () => this.#cluster.kubectl('get', 'serviceaccount', 'default'));
    await this.#cluster.apply(`
apiVersion: v1
kind: Pod
metadata: {name: worker}
spec:
  nodeName: node-1
  terminationGracePeriodSeconds: 1
  containers: [{name: main, image: "${image}", imagePullPolicy: Never, command: [sh, -c, "${script}"]}]
`);
    await this.#cluster.kubectl('wait', 'pod', 'worker', '--for', 'condition=Ready', '--timeout', '90s');
  }
}
