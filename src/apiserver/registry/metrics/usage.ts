// NodeMetrics and PodMetrics out of what kubelets say (k8s.io/metrics/pkg/apis/metrics/v1beta1; what counts as measured follows
// kubernetes-sigs/metrics-server). Pure.
import type { Node, Pod } from '#api/core/v1';
import type { ObjectMeta } from '#apimachinery/meta';
import { formatTime } from '#apimachinery/meta';
import { parseQuantity, Quantity, quantityOf, zeroQuantity } from '#apimachinery/quantity';
import { type ContainerReading, type NodeReading, podKey, type Reading } from './reading.ts';

export interface Usage {
  cpu: string;
  memory: string;
}

interface Measurement {
  metadata: ObjectMeta;
  timestamp: string;
  window: string;
}
export interface NodeMetrics extends Measurement {
  usage: Usage;
}
export interface PodMetrics extends Measurement {
  containers: { name: string; usage: Usage }[];
}

/** Kubelets compare readings of CPU time that are so far apart (their housekeeping interval). */
const window = '10s';
const nanoScale = -9;
/** The API writes years of four digits. */
const timeMax = Date.parse('9999-12-31T23:59:59Z');

const text = (quantity: Quantity): string => quantity.toString();
const cpuText = (nanoCores: number): string => text(new Quantity(Math.round(nanoCores), nanoScale, 'DecimalSI'));

/** What is used, by a reading of the kubelet; undefined while it has not yet two to compare. */
function usageOf({ cpu, memory }: Reading): Usage | undefined {
  if (cpu?.usageNanoCores === undefined || memory?.workingSetBytes === undefined) return undefined;
  return { cpu: cpuText(cpu.usageNanoCores), memory: text(quantityOf(memory.workingSetBytes, 'BinarySI')) };
}

const inSeconds = (time: string | undefined, nowMs: number): string => {
  const atMs = Date.parse(time ?? '');
  return formatTime(atMs > 0 && atMs < timeMax ? atMs : nowMs);
};

function metaOf({ metadata }: Node | Pod, nowMs: number): ObjectMeta {
  const { name, namespace, labels } = metadata;
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    creationTimestamp: formatTime(nowMs),
    ...(labels && { labels }),
  };
}

/** What a node uses; undefined where nothing is known of it yet. */
export function nodeMetrics(node: Node, { node: stats }: NodeReading, nowMs: number): NodeMetrics | undefined {
  const usage = usageOf(stats);
  return usage && { metadata: metaOf(node, nowMs), timestamp: inSeconds(stats.cpu?.time, nowMs), window, usage };
}

/**
 * What a pod uses; undefined where it does not run, or one of its containers has not been measured twice: half a pod would look idle to an
 * autoscaler.
 */
export function podMetrics(pod: Pod, { pods }: NodeReading, nowMs: number): PodMetrics | undefined {
  const measured = pods.get(podKey(pod.metadata)) ?? [];
  if (measured.length === 0) return undefined;
  const containers: PodMetrics['containers'] = [];
  for (const container of measured) {
    const usage = usageOf(container);
    if (!usage) return undefined;
    containers.push({ name: container.name, usage });
  }
  return { metadata: metaOf(pod, nowMs), timestamp: inSeconds(earliest(measured), nowMs), window, containers };
}

const earliest = (containers: readonly ContainerReading[]): string | undefined =>
  containers.flatMap(({ cpu }) => cpu?.time ?? []).sort()[0];

/** What the containers of a pod use together. */
export function totalOf({ containers }: Pick<PodMetrics, 'containers'>): Usage {
  const add = (name: keyof Usage): string =>
    containers
      .map(({ usage }) => parseQuantity(usage[name]))
      .reduce((sum, one) => sum.add(one), zeroQuantity)
      .toString();
  return { cpu: add('cpu'), memory: add('memory') };
}
