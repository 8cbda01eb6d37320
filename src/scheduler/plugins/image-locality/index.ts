// Nodes that already have the pod's images, weighed down for images that few nodes have (upstream plugins/imagelocality).
import { maxNodeScore, type NodeInfo, normalizedImageName, type Plugin, type Snapshot } from '../../framework/index.ts';
import type { Pod } from '#api/core/v1';

const megabyte = 1024 * 1024;
const minBytes = 23 * megabyte;
const maxBytesPerContainer = 1000 * megabyte;

interface Wanted {
  images: readonly string[];
  containers: number;
}

function wantedImages({ spec }: Pod): Wanted {
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  const names = containers.map(({ image = '' }) => image);
  for (const { image } of spec?.volumes ?? []) if (image?.reference) names.push(image.reference);
  return { images: names.map(normalizedImageName), containers: containers.length };
}

function spreadBytes(images: readonly string[], node: NodeInfo, snapshot: Snapshot): number {
  let sum = 0;
  for (const image of images) {
    const bytes = node.images.get(image);
    if (bytes === undefined) continue;
    sum += Math.trunc(bytes * ((snapshot.imageNodes.get(image) ?? 0) / snapshot.nodes.length));
  }
  return sum;
}

export const imageLocality = (): Plugin<unknown, Wanted> => ({
  name: 'ImageLocality',
  local: true,
  preScore: ({ pod }) => ({ state: wantedImages(pod.pod) }),
  score({ images, containers }, node, { snapshot }) {
    const maxBytes = maxBytesPerContainer * containers;
    const bytes = node.images.size === 0 ? 0 : spreadBytes(images, node, snapshot);
    const bounded = Math.min(Math.max(bytes, minBytes), maxBytes);
    return Math.trunc((maxNodeScore * (bounded - minBytes)) / (maxBytes - minBytes));
  },
});
