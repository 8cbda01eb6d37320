// metrics.k8s.io/v1beta1: what nodes and pods use, asked of the kubelets at each read (kubernetes-sigs/metrics-server, pkg/api). Nothing is stored:
// an APIService of the user's with a Service takes the group version over.
import type { Column, Printer } from '#api';
import type { Node, Pod } from '#api/core/v1';
import { methodNotSupported, notFound } from '#apimachinery/errors';
import { everything, type FieldSelector, parse as parseFields } from '#apimachinery/fields';
import { everything as anyLabels, parse as parseLabels, type Selector } from '#apimachinery/labels';
import { asKind, type KubeObject } from '#apimachinery/meta';
import type { VirtualGroup } from '../virtual-group.ts';
import type { SpecialContext, SpecialRest } from '../special.ts';
import type { StatsSource } from './source.ts';
import { metricsTypes } from './types.ts';
import { type NodeMetrics, nodeMetrics, type PodMetrics, podMetrics, totalOf, type Usage } from './usage.ts';

const group = 'metrics.k8s.io';
const version = 'v1beta1';
const apiVersion = `${group}/${version}`;

const columns: Column[] = [
  { name: 'Name', type: 'string', format: 'name', description: 'Name of the resource' },
  { name: 'cpu', type: 'string', format: 'quantity', description: 'Use of cpu' },
  { name: 'memory', type: 'string', format: 'quantity', description: 'Use of memory' },
  { name: 'Window', type: 'string', format: 'duration', description: 'Time that the use of cpu is an average over' },
];

const printerOf = (usage: (object: KubeObject) => Usage): Printer<KubeObject> => ({
  columns,
  cells(object) {
    const { cpu, memory } = usage(object);
    return [object.metadata.name ?? '', cpu, memory, (object as { window?: string }).window ?? ''];
  },
});

interface Asked {
  labels: Selector;
  fields: FieldSelector;
}

/** Throws 400 for selectors that cannot be read. */
const askedOf = ({ request: { options } }: SpecialContext): Asked => ({
  labels: options.labelSelector === undefined ? anyLabels : parseLabels(options.labelSelector),
  fields: options.fieldSelector === undefined ? everything : parseFields(options.fieldSelector),
});

function chosen<T extends Node | Pod>(objects: readonly T[], { labels, fields }: Asked): T[] {
  return objects.filter(({ metadata: { name = '', namespace = '', labels: own = {} } }) => {
    if (!labels.empty && !labels.matches(own)) return false;
    return fields.empty || fields.matches({ 'metadata.name': name, 'metadata.namespace': namespace });
  });
}

const byName = (a: { metadata: KubeObject['metadata'] }, b: { metadata: KubeObject['metadata'] }): number => {
  const key = ({ metadata }: { metadata: KubeObject['metadata'] }): string => `${metadata.namespace ?? ''}/${metadata.name}`;
  return key(a) < key(b) ? -1 : 1;
};

/** One of the two resources: which objects are asked about, on which nodes they are, what is said of one. */
interface Measured<T extends Node | Pod, M extends NodeMetrics | PodMetrics> {
  resource: 'nodes' | 'pods';
  kind: 'NodeMetrics' | 'PodMetrics';
  nodeOf(object: T): string | undefined;
  measure(object: T, summary: Parameters<typeof nodeMetrics>[1], nowMs: number): M | undefined;
  usage(metrics: M): Usage;
}

function endpoint<T extends Node | Pod, M extends NodeMetrics | PodMetrics>(
  source: StatsSource,
  { resource, kind, nodeOf, measure, usage }: Measured<T, M>,
): SpecialRest {
  const measured = async (objects: readonly T[], nowMs: number): Promise<M[]> => {
    const summaries = await source.of(objects.flatMap((object) => nodeOf(object) ?? []));
    return objects.flatMap((object) => {
      const summary = summaries.get(nodeOf(object) ?? '');
      return (summary && measure(object, summary, nowMs)) ?? [];
    });
  };
  return {
    group,
    version,
    resource,
    subresource: '',
    namespaced: resource === 'pods',
    everywhere: true,
    jsonOnly: true,
    methods: ['GET'],
    kind: { group, version, kind },
    printer: printerOf((object) => usage(asKind<M>(object))),
    async handle(context) {
      const { request, target, cluster } = context;
      const { namespace, name } = target;
      if (request.verb === 'watch') throw methodNotSupported({ group, resource }, 'watch');
      if (name === '') {
        const objects = chosen(cluster.list<T>('', resource, namespace || undefined), askedOf(context)).sort(byName);
        const items = await measured(objects, request.now);
        return { status: 200, object: { kind: `${kind}List`, apiVersion, metadata: {}, items } as unknown as KubeObject };
      }
      const called = namespace === '' ? name : `${namespace}/${name}`;
      const object = cluster.get<T>('', resource, namespace, name);
      if (!object) throw notFound({ group: '', resource }, called);
      const [metrics] = await measured([object], request.now);
      if (!metrics) throw notFound({ group, resource: kind.toLowerCase() }, called);
      return { status: 200, object: { kind, apiVersion, ...metrics } as unknown as KubeObject };
    },
  };
}

/** The group as a whole. Its priorities are those of metrics-server's own APIService. */
export function metricsGroup(source: StatsSource): VirtualGroup {
  const endpoints = [
    endpoint<Node, NodeMetrics>(source, {
      resource: 'nodes',
      kind: 'NodeMetrics',
      nodeOf: ({ metadata }) => metadata.name,
      measure: nodeMetrics,
      usage: ({ usage }) => usage,
    }),
    endpoint<Pod, PodMetrics>(source, {
      resource: 'pods',
      kind: 'PodMetrics',
      nodeOf: ({ spec }) => spec?.nodeName,
      measure: podMetrics,
      usage: totalOf,
    }),
  ];
  return {
    group,
    version,
    priority: { groupPriorityMinimum: 100, versionPriority: 100 },
    endpoints,
    types: metricsTypes,
    resources: endpoints.map(({ resource, namespaced, kind }) => ({
      name: resource,
      singularName: '',
      namespaced,
      kind,
      verbs: ['get', 'list'],
      shortNames: [],
      categories: [],
    })),
  };
}
