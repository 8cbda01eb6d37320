// Labels a Node gets from its machine, in both generations of names (KEP-837), and how the two are kept equal. Pure.
import type { InstanceMetadata } from '#cloud-provider';

const pairs = [
  { field: 'instanceType', beta: 'beta.kubernetes.io/instance-type', stable: 'node.kubernetes.io/instance-type' },
  { field: 'zone', beta: 'failure-domain.beta.kubernetes.io/zone', stable: 'topology.kubernetes.io/zone' },
  { field: 'region', beta: 'failure-domain.beta.kubernetes.io/region', stable: 'topology.kubernetes.io/region' },
] as const;

const reserved = /(^|\.)(kubernetes|k8s)\.io$/;

/** Whether a provider may not set labels of this key: kubernetes.io, k8s.io and what is below them. */
const isReserved = (key: string): boolean => key.includes('/') && reserved.test(key.slice(0, key.indexOf('/')));

/** The labels of a Node that is being initialised. */
export function labelsFrom(metadata: InstanceMetadata, existing: Readonly<Record<string, string>> = {}): Record<string, string> {
  const labels: Record<string, string> = { ...existing };
  for (const { field, beta, stable } of pairs) {
    const value = metadata[field];
    if (value) labels[beta] = labels[stable] = value;
  }
  for (const [key, value] of Object.entries(metadata.additionalLabels ?? {}))
    if (!isReserved(key) && !Object.hasOwn(labels, key)) labels[key] = value;
  return labels;
}

/** Stable labels to bring in line with the beta ones, which come first. */
export function labelsToReconcile(labels: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(
    pairs.flatMap(({ beta, stable }) => {
      const value = labels[beta];
      return value === undefined || labels[stable] === value ? [] : [[stable, value]];
    }),
  );
}
