// A node with the pods on it and what they take (upstream scheduler framework.NodeInfo). Kept up to date pod by pod; a dry run takes a copy.
import type { Node } from '#api/core/v1';
import type { PodInfo } from './pod-info.ts';
import { addResources, copyResources, noResources, type Resources, resourcesOfList } from './resources.ts';

export interface NodeInfo {
  /** Place in the snapshot's list of nodes; changes when a node goes. */
  index: number;
  node: Node;
  name: string;
  allocatable: Resources;
  allowedPods: number;
  requested: Resources;
  nonZeroCpu: number;
  nonZeroMemory: number;
  /** The pods by uid. */
  readonly pods: Map<string, PodInfo>;
  readonly podsWithAffinity: Map<string, PodInfo>;
  readonly podsWithRequiredAntiAffinity: Map<string, PodInfo>;
  readonly podsWithPorts: Map<string, PodInfo>;
  /** Sizes in bytes by normalised image name. */
  images: ReadonlyMap<string, number>;
}

const mapWithUid = (pods: Map<string, PodInfo>, pod: PodInfo, wanted: boolean): void => {
  if (wanted) pods.set(pod.uid, pod);
};

/** A name without a tag means `:latest`. */
export const normalizedImageName = (name: string): string =>
  name.lastIndexOf(':') <= name.lastIndexOf('/') ? `${name}:latest` : name;

function imagesOf(node: Node): Map<string, number> {
  const images = new Map<string, number>();
  for (const { names, sizeBytes = 0 } of node.status?.images ?? [])
    for (const name of names ?? []) images.set(name, Number(sizeBytes));
  return images;
}

export function nodeInfoOf(node: Node): NodeInfo {
  const info: NodeInfo = {
    index: -1,
    node,
    name: node.metadata.name ?? '',
    allocatable: noResources(),
    allowedPods: 0,
    requested: noResources(),
    nonZeroCpu: 0,
    nonZeroMemory: 0,
    pods: new Map(),
    podsWithAffinity: new Map(),
    podsWithRequiredAntiAffinity: new Map(),
    podsWithPorts: new Map(),
    images: new Map(),
  };
  setNode(info, node);
  return info;
}

/** Takes over a newer version of the same Node. */
export function setNode(info: NodeInfo, node: Node): void {
  info.node = node;
  info.allocatable = resourcesOfList(node.status?.allocatable);
  info.allowedPods = Number(node.status?.allocatable?.pods ?? 0);
  info.images = imagesOf(node);
}

export function addPod(info: NodeInfo, pod: PodInfo): void {
  if (info.pods.has(pod.uid)) removePod(info, pod.uid);
  info.pods.set(pod.uid, pod);
  mapWithUid(info.podsWithAffinity, pod, pod.hasAffinity);
  mapWithUid(info.podsWithRequiredAntiAffinity, pod, pod.requiredAntiAffinity.length > 0);
  mapWithUid(info.podsWithPorts, pod, pod.ports.length > 0);
  addResources(info.requested, pod.requests, 1);
  info.nonZeroCpu += pod.nonZeroCpu;
  info.nonZeroMemory += pod.nonZeroMemory;
}

/** Gives the pod that was there. */
export function removePod(info: NodeInfo, uid: string): PodInfo | undefined {
  const pod = info.pods.get(uid);
  if (pod === undefined) return undefined;
  info.pods.delete(uid);
  info.podsWithAffinity.delete(uid);
  info.podsWithRequiredAntiAffinity.delete(uid);
  info.podsWithPorts.delete(uid);
  addResources(info.requested, pod.requests, -1);
  info.nonZeroCpu -= pod.nonZeroCpu;
  info.nonZeroMemory -= pod.nonZeroMemory;
  return pod;
}

/** A copy to try things on; the pods themselves are shared. */
export const copyNodeInfo = (info: NodeInfo): NodeInfo => ({
  ...info,
  requested: copyResources(info.requested),
  pods: new Map(info.pods),
  podsWithAffinity: new Map(info.podsWithAffinity),
  podsWithRequiredAntiAffinity: new Map(info.podsWithRequiredAntiAffinity),
  podsWithPorts: new Map(info.podsWithPorts),
});
