// The types of metrics.k8s.io/v1beta1 as OpenAPI describes them (k8s.io/metrics/pkg/apis/metrics/v1beta1).
import type { PublishedType } from '../virtual-group.ts';

const prefix = 'io.k8s.metrics.pkg.apis.metrics.v1beta1';
const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const quantity = 'io.k8s.apimachinery.pkg.api.resource.Quantity';

type Schema = Record<string, unknown>;
type Reference = (typeName: string) => Schema;

const text = (description: string): Schema => ({ description, type: 'string' });
const usage = (reference: Reference): Schema => ({
  description: 'What is used of each resource.',
  type: 'object',
  additionalProperties: reference(quantity),
});
const gvk = (kind: string): Schema => ({
  'x-kubernetes-group-version-kind': [{ group: 'metrics.k8s.io', version: 'v1beta1', kind }],
});
const head = {
  apiVersion: text('The version of the schema of this representation of an object.'),
  kind: text('The REST resource that this object represents.'),
};

const measured = (kind: string, what: string, properties: (reference: Reference) => Schema): PublishedType => ({
  name: `${prefix}.${kind}`,
  kind,
  schema: (reference) => ({
    description: `${kind} is the use of resources of a ${what}.`,
    type: 'object',
    required: ['timestamp', 'window', ...Object.keys(properties(reference))],
    properties: {
      ...head,
      metadata: reference(`${meta}.ObjectMeta`),
      timestamp: reference(`${meta}.Time`),
      window: reference(`${meta}.Duration`),
      ...properties(reference),
    },
    ...gvk(kind),
  }),
});

const listOf = (kind: string): PublishedType => ({
  name: `${prefix}.${kind}List`,
  kind: `${kind}List`,
  schema: (reference) => ({
    description: `${kind}List is a list of ${kind}.`,
    type: 'object',
    required: ['items'],
    properties: {
      ...head,
      metadata: reference(`${meta}.ListMeta`),
      items: { type: 'array', items: reference(`${prefix}.${kind}`) },
    },
    ...gvk(`${kind}List`),
  }),
});

export const metricsTypes: readonly PublishedType[] = [
  {
    name: `${prefix}.ContainerMetrics`,
    schema: (reference) => ({
      description: 'ContainerMetrics is the use of resources of a container.',
      type: 'object',
      required: ['name', 'usage'],
      properties: { name: text('Name of the container, as in its pod.'), usage: usage(reference) },
    }),
  },
  measured('NodeMetrics', 'node', (reference) => ({ usage: usage(reference) })),
  listOf('NodeMetrics'),
  measured('PodMetrics', 'pod', (reference) => ({
    containers: { type: 'array', items: reference(`${prefix}.ContainerMetrics`) },
  })),
  listOf('PodMetrics'),
];
