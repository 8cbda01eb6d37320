// Why a Service has no endpoints, or an Ingress no one who answers. Pure.
import type { Pod, Service, ServicePort } from '#api/core/v1';
import type { EndpointSlice } from '#api/discovery/v1';
import type { Ingress, IngressClass } from '#api/networking/v1';
import { fromSet, labelsText } from '#apimachinery/labels';
import { findPort } from '#component-helpers/endpoints';
import { isPodReady, isPodTerminal } from '#component-helpers/workload';
import { podSentences } from './pods.ts';
import { countText, someNames } from './words.ts';

/** What is around a Service; `pods` of all namespaces. */
export interface ServiceWorld {
  pods: readonly Pod[];
  slices: readonly EndpointSlice[];
}

type Labels = Readonly<Record<string, string>>;

const nameOf = ({ metadata }: Pod): string => `${metadata.namespace}/${metadata.name}`;

/** The labels that a selector asks for, with the values that a pod has. */
const only = (labels: Labels = {}, selector: Labels): Labels =>
  Object.fromEntries(Object.entries(labels).filter(([key]) => selector[key] !== undefined));

function nobodySentences({ metadata, spec }: Service, pods: readonly Pod[]): string[] {
  const selector = spec?.selector ?? {};
  const own = pods.filter((pod) => pod.metadata.namespace === metadata.namespace);
  const elsewhere = pods.filter(
    (pod) => pod.metadata.namespace !== metadata.namespace && fromSet(selector).matches(pod.metadata.labels ?? {}),
  );
  const near = own.filter(({ metadata: { labels = {} } }) => Object.keys(selector).some((key) => labels[key] !== undefined));
  return [
    `has no endpoints: no pod of namespace ${metadata.namespace} has the labels ${labelsText(selector)}`,
    ...(near.length > 0
      ? [
          `pods there with other values: ${someNames(near.map((pod) => `${pod.metadata.name} (${labelsText(only(pod.metadata.labels, selector))})`))}`,
        ]
      : []),
    ...(elsewhere.length > 0
      ? [`pods of other namespaces have them, and do not count: ${someNames(elsewhere.map(nameOf))}`]
      : []),
  ];
}

function portSentences(port: ServicePort, pods: readonly Pod[]): string[] {
  const { targetPort = port.port, name } = port;
  const what = `port ${name ? `${name} (${port.port})` : port.port}`;
  if (typeof targetPort === 'string') {
    const without = pods.filter((pod) => findPort(pod, port) === undefined).map((pod) => pod.metadata.name ?? '');
    return without.length > 0
      ? [`${what} leads to the port named ${JSON.stringify(targetPort)}, which no container has of ${someNames(without)}`]
      : [];
  }
  const declared = new Set(
    pods.flatMap(({ spec }) => (spec?.containers ?? []).flatMap(({ ports }) => (ports ?? []).map((one) => one.containerPort))),
  );
  return declared.size > 0 && !declared.has(targetPort)
    ? [
        `${what} leads to ${targetPort}, and its pods name other ports: ${[...declared].join(', ')}; does something listen on ${targetPort}?`,
      ]
    : [];
}

function endpointSentences(service: Service, { pods, slices }: ServiceWorld): string[] {
  const { metadata, spec } = service;
  const endpoints = slices.flatMap((slice) => slice.endpoints ?? []);
  if (!spec?.selector || Object.keys(spec.selector).length === 0)
    return [
      `has no selector: its endpoints are those that somebody writes into EndpointSlices with the label kubernetes.io/service-name=${metadata.name} (now ${endpoints.length})`,
    ];
  const selector = fromSet(spec.selector);
  const selected = pods.filter(
    (pod) => pod.metadata.namespace === metadata.namespace && selector.matches(pod.metadata.labels ?? {}) && !isPodTerminal(pod),
  );
  if (selected.length === 0) return nobodySentences(service, pods);
  const unready = selected.filter((pod) => !isPodReady(pod));
  return [
    `selects ${countText(selected.length, 'pod')}, of which ${selected.length - unready.length} ${selected.length - unready.length === 1 ? 'is' : 'are'} ready`,
    ...(unready.length > 0 && spec.publishNotReadyAddresses !== true
      ? [
          'pods that are not ready get no traffic:',
          ...unready.slice(0, 3).map((pod) => `  pod ${pod.metadata.name}: ${podSentences(pod)[0] ?? 'it is being deleted'}`),
        ]
      : []),
    ...(spec.ports ?? []).flatMap((port) => portSentences(port, selected)),
  ];
}

function balancerSentences({ spec, status }: Service): string[] {
  if (spec?.type !== 'LoadBalancer' || (status?.loadBalancer?.ingress ?? []).length > 0) return [];
  const { loadBalancerClass } = spec;
  return [
    loadBalancerClass
      ? `has no address of a load balancer: it waits for whoever serves the class ${JSON.stringify(loadBalancerClass)}`
      : 'has no address of a load balancer yet: the cloud-controller-manager gives one',
  ];
}

/** Who answers for a Service, or why nobody does. */
export function serviceSentences(service: Service, world: ServiceWorld): string[] {
  if (service.spec?.type === 'ExternalName')
    return [`is another name for ${service.spec.externalName}: cluster DNS answers with it, and there are no endpoints`];
  return [...endpointSentences(service, world), ...balancerSentences(service)];
}

export interface IngressWorld {
  classes: readonly IngressClass[];
  services: readonly Service[];
}

const defaultClass = 'ingressclass.kubernetes.io/is-default-class';

function classSentences(ingress: Ingress, classes: readonly IngressClass[]): string[] {
  const name = ingress.spec?.ingressClassName ?? ingress.metadata.annotations?.['kubernetes.io/ingress.class'];
  const names = classes.map(({ metadata }) => metadata.name ?? '');
  const there =
    names.length > 0 ? `; there are: ${names.join(', ')}` : ': no ingress controller is installed, and this cluster brings none';
  if (name === undefined)
    return classes.some(({ metadata }) => metadata.annotations?.[defaultClass] === 'true')
      ? ['names no class; a controller may still take it, but the default class is only filled in when an Ingress is made']
      : [`names no class, and none is the default${there}`];
  return ingress.spec?.ingressClassName && !names.includes(name)
    ? [`its class ${JSON.stringify(name)} does not exist${there}`]
    : [];
}

/** Whether somebody serves an Ingress, and whether what it leads to is there. */
export function ingressSentences(ingress: Ingress, { classes, services }: IngressWorld): string[] {
  const { spec = {}, status } = ingress;
  const backends = [
    spec.defaultBackend,
    ...(spec.rules ?? []).flatMap(({ http }) => (http?.paths ?? []).map(({ backend }) => backend)),
  ];
  const known = new Map(services.map((service) => [service.metadata.name, service]));
  const wanted = new Map(backends.flatMap((backend) => (backend?.service ? [[backend.service.name, backend.service]] : [])));
  const missing = [...wanted.values()].flatMap(({ name, port = {} }) => {
    const service = known.get(name);
    if (!service) return [`leads to the Service ${name}, which does not exist`];
    const has = (service.spec?.ports ?? []).some((one) => (port.name ? one.name === port.name : one.port === port.number));
    return has ? [] : [`leads to port ${port.name ?? port.number} of the Service ${name}, which has no such port`];
  });
  const unanswered = (status?.loadBalancer?.ingress ?? []).length === 0;
  return [
    ...classSentences(ingress, classes),
    ...missing,
    ...(unanswered ? ['has no address yet: an ingress controller writes it into its status'] : []),
  ];
}
