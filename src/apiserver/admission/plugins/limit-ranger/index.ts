// Defaults and bounds for what containers, pods and claims may ask for (plugin/pkg/admission/limitranger).
import type { Container, LimitRange, LimitRangeItem, PersistentVolumeClaim, Pod } from '#api/core/v1';
import { aggregateTexts } from '#apimachinery/field';
import { parseQuantity, type Quantity, zeroQuantity } from '#apimachinery/quantity';
import { assignOwn, own } from '#utils';
import type { AdmissionRequest } from '../../../registry/generic/admission.ts';
import type { ReadOnlyCluster } from '../../../storage/read-only-cluster.ts';
import { podTotals } from '#component-helpers/pod';
import { definePlugin, deny, handling, isFor, type PluginFactory } from '../../plugin.ts';

const annotation = 'kubernetes.io/limit-ranger';

type Amounts = ReadonlyMap<string, Quantity>;

const amounts = (list: Record<string, string> | undefined): Amounts =>
  new Map(Object.entries(list ?? {}).map(([name, text]) => [name, parseQuantity(text)]));

// Upstream counts in thousandths as long as all values allow it, else in whole units.
const maxMilli = Number.MAX_SAFE_INTEGER / 1000;
const counted = (values: readonly Quantity[]): number[] =>
  values.every((value) => value.value() <= maxMilli)
    ? values.map((value) => value.milliValue())
    : values.map((value) => value.value());

interface Subject {
  type: string;
  requests: Amounts;
  limits: Amounts;
}

function minProblem({ type, requests, limits }: Subject, name: string, enforced: Quantity): string | undefined {
  const request = requests.get(name);
  const limit = limits.get(name);
  const head = `minimum ${name} usage per ${type} is ${enforced}`;
  const [asked = 0, most = 0, least = 0] = counted([request ?? zeroQuantity, limit ?? zeroQuantity, enforced]);
  if (!request) return `${head}.  No request is specified`;
  if (asked < least) return `${head}, but request is ${request}`;
  return limit && most < least ? `${head}, but limit is ${limit}` : undefined;
}

function maxProblem({ type, requests, limits }: Subject, name: string, enforced: Quantity): string | undefined {
  const request = requests.get(name);
  const limit = limits.get(name);
  const head = `maximum ${name} usage per ${type} is ${enforced}`;
  const [asked = 0, most = 0, bound = 0] = counted([request ?? zeroQuantity, limit ?? zeroQuantity, enforced]);
  if (!limit) return `${head}.  No limit is specified`;
  if (most > bound) return `${head}, but limit is ${limit}`;
  return request && asked > bound ? `${head}, but request is ${request}` : undefined;
}

function maxRequestProblem({ type, requests }: Subject, name: string, enforced: Quantity): string | undefined {
  const request = requests.get(name);
  const head = `maximum ${name} usage per ${type} is ${enforced}`;
  if (!request) return `${head}.  No request is specified`;
  return request.compare(enforced) > 0 ? `${head}, but request is ${request}` : undefined;
}

function ratioProblem({ type, requests, limits }: Subject, name: string, enforced: Quantity): string | undefined {
  const [asked = 0, most = 0] = counted([requests.get(name) ?? zeroQuantity, limits.get(name) ?? zeroQuantity, zeroQuantity]);
  const head = `${name} max limit to request ratio per ${type} is ${enforced}`;
  if (asked === 0) return `${head}, but no request is specified or request is 0`;
  if (most === 0) return `${head}, but no limit is specified or limit is 0`;
  const ratio = most / asked;
  return ratio > enforced.toNumber() ? `${head}, but provided ratio is ${ratio.toFixed(6)}` : undefined;
}

type Check = (subject: Subject, name: string, enforced: Quantity) => string | undefined;

const problems = (subject: Subject, bounds: Record<string, string> | undefined, check: Check): string[] =>
  [...amounts(bounds)].flatMap(([name, enforced]) => check(subject, name, enforced) ?? []);

const boundProblems = (subject: Subject, item: LimitRangeItem): string[] => [
  ...problems(subject, item.min, minProblem),
  ...problems(subject, item.max, maxProblem),
  ...problems(subject, item.maxLimitRequestRatio, ratioProblem),
];

function podProblems(item: LimitRangeItem, pod: Pod): string[] {
  const subject = (container: Container): Subject => ({
    type: item.type,
    requests: amounts(container.resources?.requests),
    limits: amounts(container.resources?.limits),
  });
  if (item.type === 'Container') {
    const containers = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])];
    return containers.flatMap((container) => boundProblems(subject(container), item));
  }
  if (item.type !== 'Pod') return [];
  return boundProblems({ type: 'Pod', requests: podTotals(pod, 'requests'), limits: podTotals(pod, 'limits') }, item);
}

function claimProblems(item: LimitRangeItem, claim: PersistentVolumeClaim): string[] {
  if (item.type !== 'PersistentVolumeClaim') return [];
  const subject = { type: item.type, requests: amounts(claim.spec?.resources?.requests), limits: new Map<string, Quantity>() };
  return [...problems(subject, item.min, minProblem), ...problems(subject, item.max, maxRequestProblem)];
}

interface Defaults {
  requests: Record<string, string>;
  limits: Record<string, string>;
}

function defaultsOf(range: LimitRange): Defaults {
  const defaults: Defaults = { requests: {}, limits: {} };
  for (const item of range.spec?.limits ?? []) {
    if (item.type !== 'Container') continue;
    assignOwn(defaults.requests, item.defaultRequest ?? {});
    assignOwn(defaults.limits, item.default ?? {});
  }
  return defaults;
}

/** Adds what is missing and tells which; the names sorted. */
function fill(container: Container, defaults: Defaults, kind: 'requests' | 'limits', title: string): string[] {
  const given = container.resources?.[kind] ?? {};
  const missing = Object.keys(defaults[kind])
    .filter((name) => own(given, name) === undefined)
    .sort();
  if (missing.length === 0) return [];
  const added = Object.fromEntries(missing.map((name) => [name, defaults[kind][name] as string]));
  container.resources = { ...container.resources, [kind]: { ...given, ...added } };
  return [`${missing.join(', ')} ${kind === 'requests' ? 'request' : 'limit'} for ${title} ${container.name}`];
}

function setDefaults(range: LimitRange, pod: Pod): void {
  const defaults = defaultsOf(range);
  const lists: [string, readonly Container[]][] = [
    ['container', pod.spec?.containers ?? []],
    ['init container', pod.spec?.initContainers ?? []],
  ];
  const notes = lists.flatMap(([title, containers]) =>
    containers.flatMap((container) => [
      ...fill(container, defaults, 'requests', title),
      ...fill(container, defaults, 'limits', title),
    ]),
  );
  if (notes.length === 0) return;
  pod.metadata.annotations = { ...pod.metadata.annotations, [annotation]: `LimitRanger plugin set: ${notes.join('; ')}` };
}

/** The ranges that bear on the request; none when it is not about pods or claims. */
function rangesFor(cluster: ReadOnlyCluster, request: AdmissionRequest): readonly LimitRange[] {
  const resize = isFor(request, '', 'pods', 'resize') && request.operation === 'UPDATE';
  const created = isFor(request, '', 'pods') && request.operation === 'CREATE';
  if (!resize && !created && !isFor(request, '', 'persistentvolumeclaims')) return [];
  if (request.oldObject?.metadata.deletionTimestamp) return [];
  return cluster.list<LimitRange>('', 'limitranges', request.namespace);
}

export const limitRanger: PluginFactory = ({ cluster }) => ({
  name: 'LimitRanger',
  handles: handling('CREATE', 'UPDATE'),
  admit(request) {
    if (request.resource !== 'pods') return;
    for (const range of rangesFor(cluster, request)) setDefaults(range, request.object as Pod);
  },
  validate(request) {
    for (const range of rangesFor(cluster, request)) {
      const found = (range.spec?.limits ?? []).flatMap((item) =>
        request.resource === 'pods'
          ? podProblems(item, request.object as Pod)
          : claimProblems(item, request.object as PersistentVolumeClaim),
      );
      if (found.length > 0) throw deny(request, aggregateTexts(found));
    }
  },
});

export const plugin = definePlugin('LimitRanger', limitRanger);
