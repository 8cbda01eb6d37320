// `sagong node drain` and `sagong node remove`: a node is emptied of its pods as `kubectl drain` does it, and taken out of the cluster.
import { existsSync } from 'node:fs';
import type { Node, Pod } from '#api/core/v1';
import { isNotFound, type StatusError } from '#apimachinery/errors';
import { clientConfigOf, createClient, createRestTransport, type KubeClient, readKubeconfig } from '#client';
import { userAgent } from '#component-base';
import type { Clock } from '#utils';
import { membersOf, removeMember as removeEtcdMember } from '../control-planes/etcd-members.ts';
import { ownMachineDir } from './choice.ts';
import { drainPollMs, drainTimeoutMs } from './limits.ts';
import { controlPlaneLabel } from './labels.ts';
import { loadMachine, machinePaths } from './machine.ts';
import { ownControlPlane } from './own-plane.ts';
import { clusterPaths } from '../state/paths.ts';

const core = (resource: string) => ({ group: '', version: 'v1', resource });

/** A client with the rights of the administrator of a cluster on this machine. Throws a sentence where there is none. */
export function adminClient(dataDir: string, clock: Clock): KubeClient {
  const { kubeconfig } = clusterPaths(dataDir);
  if (!existsSync(kubeconfig))
    throw new Error(
      existsSync(machinePaths(dataDir).settings)
        ? `the machine in ${dataDir} is a node alone; say that on a control plane`
        : `there is no cluster in ${dataDir}`,
    );
  const config = clientConfigOf(readKubeconfig(kubeconfig));
  return createClient(createRestTransport({ config, clock, userAgent: userAgent('sagong') }));
}

const isMirror = ({ metadata }: Pod): boolean => metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined;
const isDaemon = ({ metadata }: Pod): boolean =>
  metadata.ownerReferences?.some(({ kind, controller }) => controller === true && kind === 'DaemonSet') ?? false;
const isOver = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';

const noNode = (name: string): Error => new Error(`there is no node ${JSON.stringify(name)} in the cluster`);

async function nodeNamed(client: KubeClient, name: string): Promise<Node | undefined> {
  try {
    return await client.resource<Node>(core('nodes')).get(name);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Pods that leave: all but those of DaemonSets, which ignore that a node takes no more, and of static files. */
async function leavingPods(client: KubeClient, node: string): Promise<Pod[]> {
  const { items } = await client.resource<Pod>(core('pods')).list({ fieldSelector: `spec.nodeName=${node}` });
  return items.filter((pod) => !isMirror(pod) && !isDaemon(pod) && !isOver(pod));
}

async function evict(client: KubeClient, { metadata: { name = '', namespace = '' } }: Pod): Promise<boolean> {
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } };
  try {
    await client.resource(core('pods'), namespace).createSubresource(name, 'eviction', body);
    return true;
  } catch (error) {
    // A disruption budget does not allow it now.
    if ((error as StatusError).status?.code === 429) return false;
    if (isNotFound(error)) return true;
    throw error;
  }
}

/** Resolves when no pod is left that could run elsewhere. `say` is called with sentences about the progress. */
export async function drainNode(client: KubeClient, name: string, clock: Clock, say: (text: string) => void): Promise<void> {
  const node = await nodeNamed(client, name);
  if (!node) throw noNode(name);
  if (!node.spec?.unschedulable) {
    await client.resource<Node>(core('nodes')).patch(name, 'application/merge-patch+json', { spec: { unschedulable: true } });
    say(`node/${name} cordoned`);
  }
  const deadlineMs = clock.monotonic() + drainTimeoutMs;
  const asked = new Set<string>();
  for (;;) {
    const pods = await leavingPods(client, name);
    if (pods.length === 0) break;
    for (const pod of pods) {
      const key = `${pod.metadata.namespace}/${pod.metadata.name}`;
      if (asked.has(key) || !(await evict(client, pod))) continue;
      asked.add(key);
      say(`evicting pod ${key}`);
    }
    if (clock.monotonic() > deadlineMs)
      throw new Error(
        `these pods are still on ${name}: ${pods.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).join(', ')}`,
      );
    await clock.sleep(drainPollMs);
  }
  say(`node/${name} drained`);
}

type Say = (text: string) => void;

/** Removes the etcd member of a machine that is gone for good. */
async function removeMember(dataDir: string, node: Node, clock: Clock, say: Say): Promise<void> {
  if (node.metadata.labels?.[controlPlaneLabel] === undefined) return;
  const address = node.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? '';
  const own = await ownControlPlane(dataDir);
  if (own === undefined) return;
  await removeEtcdMember(own, address, clock);
  say(`etcd member at ${address} removed`);
}

/**
 * Removes the etcd member of a machine that never became a node because its join was interrupted, and says whether there was one. A member that has
 * not run yet has no name, only an address. Throws a sentence where only addresses are known.
 */
async function removeBegun(dataDir: string, name: string, clock: Clock, say: Say): Promise<boolean> {
  const own = await ownControlPlane(dataDir);
  if (own === undefined || own.name === name) return false;
  const members = await membersOf(own, clock);
  const begun = members.find((member) => member.name === name || member.address === name);
  if (begun) {
    await removeEtcdMember(own, begun.address, clock);
    say(`etcd member at ${begun.address} removed`);
    return true;
  }
  const nameless = members.filter((member) => member.name === '').map(({ address }) => address);
  if (nameless.length === 0) return false;
  throw new Error(
    `${noNode(name).message}; members of etcd that have never run are at ${nameless.join(', ')}: name one of these`,
  );
}

/** Throws a sentence for the machine that is asked: what runs here would go on, and nothing could bring its Node back but a restart. */
async function assertElsewhere(name: string, dataDir: string): Promise<void> {
  const nodes = [await loadMachine(dataDir), await loadMachine(ownMachineDir(dataDir))].map((own) => own?.nodeName);
  if (nodes.includes(name) || (await ownControlPlane(dataDir))?.name === name)
    throw new Error(`${name} is this machine: sagong leave takes it out, and sagong down where it was the first one`);
}

/** Drains it where it is Ready, takes its member out of etcd, and deletes its Node. */
export async function removeNode(client: KubeClient, name: string, dataDir: string, clock: Clock, say: Say): Promise<void> {
  await assertElsewhere(name, dataDir);
  const node = await nodeNamed(client, name);
  if (!node) {
    if (!(await removeBegun(dataDir, name, clock, say))) throw noNode(name);
    return;
  }
  const ready = node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
  if (ready) await drainNode(client, name, clock, say);
  await removeMember(dataDir, node, clock, say);
  await client.resource<Node>(core('nodes')).delete(name);
  say(`node/${name} removed from the cluster`);
}
