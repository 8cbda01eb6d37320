// Asks the metrics APIs what an autoscaler wants to know (k8s.io/kubernetes/pkg/controller/podautoscaler/metrics; metrics.k8s.io,
// custom.metrics.k8s.io, external.metrics.k8s.io). What the answers mean is decided in decide.ts.
import type { CrossVersionObjectReference, MetricSpec } from '#api/autoscaling/v2';
import { isNotFound } from '#apimachinery/errors';
import { fromLabelSelector, type LabelSelector } from '#apimachinery/labels';
import { type KubeObject, parseApiVersion } from '#apimachinery/meta';
import { parseQuantity } from '#apimachinery/quantity';
import { parseDurationMs } from '#apimachinery/duration';
import type { ActionDeps, DiscoveredResource } from '#controller-runtime';
import { type Measured, MetricError, type Measurement } from '../replicas.ts';

type KubeClient = ActionDeps['client'];

/** The window of metrics that name none. */
const windowDefaultMs = 60_000;

interface PodMetrics extends KubeObject {
  timestamp: string;
  window: string;
  containers: { name: string; usage: Record<string, string> }[];
}
interface MetricValues {
  items: {
    describedObject?: { name: string };
    timestamp: string;
    windowSeconds?: number;
    window?: string;
    value: string;
  }[];
}

const milli = (text: string): number => parseQuantity(text).milliValue();
const selectorText = (selector: LabelSelector | undefined): string => (selector ? fromLabelSelector(selector).toString() : '');

/** The reason, in client-go's words where an API is missing. */
const reasonOf = (error: unknown, what: string): string => {
  if (isNotFound(error)) return `the server could not find the requested resource (get ${what})`;
  return error instanceof Error ? error.message : String(error);
};

async function podResources(
  client: KubeClient,
  namespace: string,
  selector: string,
  resource: string,
  container: string,
): Promise<Map<string, Measurement>> {
  const target = client.resource<PodMetrics>({ group: 'metrics.k8s.io', version: 'v1beta1', resource: 'pods' }, namespace);
  const { items } = await target.list({ labelSelector: selector }).catch((error: unknown) => {
    throw new MetricError(`unable to fetch metrics from resource metrics API: ${reasonOf(error, 'pods.metrics.k8s.io')}`);
  });
  if (items.length === 0) throw new MetricError('no metrics returned from resource metrics API');
  const found = new Map<string, Measurement>();
  for (const { metadata, timestamp, window, containers } of items) {
    const counted = containers.filter(({ name }) => container === '' || name === container);
    if (container !== '' && counted.length === 0)
      throw new MetricError(`container ${container} not present in metrics for pod ${namespace}/${metadata.name}`);
    if (counted.some(({ usage }) => usage[resource] === undefined)) continue;
    const value = counted.reduce((sum, { usage }) => sum + milli(usage[resource] ?? '0'), 0);
    found.set(metadata.name ?? '', { value, atMs: Date.parse(timestamp), windowMs: parseDurationMs(window) });
  }
  return found;
}

async function values(
  client: KubeClient,
  path: string,
  query: Record<string, string>,
  what: string,
  api: string,
): Promise<MetricValues> {
  const chosen = Object.entries(query).filter(([, value]) => value !== '');
  const text = chosen.length > 0 ? `${path}?${new URLSearchParams(chosen).toString()}` : path;
  const answer = await client.transport.raw('GET', text);
  if (answer.status === 200) return JSON.parse(answer.text) as MetricValues;
  const reason =
    answer.status === 404
      ? `the server could not find the requested resource (get ${what})`
      : `the server answered ${answer.status}`;
  throw new MetricError(`unable to fetch metrics from ${api} metrics API: ${reason}`);
}

const custom = '/apis/custom.metrics.k8s.io/v1beta2';
const external = '/apis/external.metrics.k8s.io/v1beta1';

async function podMetric(
  client: KubeClient,
  namespace: string,
  selector: string,
  metric: { name: string; selector?: LabelSelector },
) {
  const path = `${custom}/namespaces/${namespace}/pods/*/${metric.name}`;
  const query = { labelSelector: selector, metricLabelSelector: selectorText(metric.selector) };
  const { items } = await values(client, path, query, `pods.custom.metrics.k8s.io ${metric.name}`, 'custom');
  if (items.length === 0) throw new MetricError('no metrics returned from custom metrics API');
  return new Map(
    items.map(({ describedObject, value, timestamp, windowSeconds }): [string, Measurement] => [
      describedObject?.name ?? '',
      {
        value: milli(value),
        atMs: Date.parse(timestamp),
        windowMs: windowSeconds === undefined ? windowDefaultMs : windowSeconds * 1000,
      },
    ]),
  );
}

async function objectMetric(
  client: KubeClient,
  namespace: string,
  object: CrossVersionObjectReference,
  metric: { name: string; selector?: LabelSelector },
  discovered: readonly DiscoveredResource[],
): Promise<number> {
  const { group } = parseApiVersion(object.apiVersion ?? '');
  const found = discovered.find((one) => one.preferred && one.group === group && one.kind === object.kind);
  if (!found)
    throw new MetricError(
      `unable to map kind ${object.kind}.${group} to resource: no matches for kind "${object.kind}" in group "${group}"`,
    );
  const name = group === '' ? found.resource : `${found.resource}.${group}`;
  const where = found.namespaced ? `namespaces/${namespace}/` : '';
  const path = `${custom}/${where}${name}/${object.name}/${metric.name}`;
  const { items } = await values(
    client,
    path,
    { metricLabelSelector: selectorText(metric.selector) },
    `${name}.custom.metrics.k8s.io ${object.name}`,
    'custom',
  );
  const [first] = items;
  if (!first) throw new MetricError(`the server returned no metrics`);
  return milli(first.value);
}

async function externalMetric(
  client: KubeClient,
  namespace: string,
  metric: { name: string; selector?: LabelSelector },
): Promise<number> {
  const path = `${external}/namespaces/${namespace}/${metric.name}`;
  const { items } = await values(
    client,
    path,
    { labelSelector: selectorText(metric.selector) },
    `${metric.name}.external.metrics.k8s.io`,
    'external',
  );
  if (items.length === 0) throw new MetricError('no metrics returned from external metrics API');
  return items.reduce((sum, { value }) => sum + milli(value), 0);
}

interface Question {
  client: KubeClient;
  namespace: string;
  selector: string;
  discovered: readonly DiscoveredResource[];
}

async function ask({ client, namespace, selector, discovered }: Question, spec: MetricSpec): Promise<Measured> {
  const { resource, containerResource, pods, object } = spec;
  if (resource) return { pods: await podResources(client, namespace, selector, resource.name, '') };
  if (containerResource)
    return { pods: await podResources(client, namespace, selector, containerResource.name, containerResource.container) };
  if (pods) return { pods: await podMetric(client, namespace, selector, pods.metric) };
  if (object) return { value: await objectMetric(client, namespace, object.describedObject, object.metric, discovered) };
  if (spec.external) return { value: await externalMetric(client, namespace, spec.external.metric) };
  return { error: `unknown metric source type "${spec.type}"` };
}

/** The answer for each metric, in order. Never rejects for an API that fails. */
export const measure = (question: Question, specs: readonly MetricSpec[]): Promise<Measured[]> =>
  Promise.all(
    specs.map((spec) =>
      ask(question, spec).catch(
        (error: unknown): Measured => ({ error: error instanceof Error ? error.message : String(error) }),
      ),
    ),
  );
