// PodSecurity (KEP-2579): pods are held to their namespace's level; owners of pods are warned; changes of a namespace's level tell which
// pods break it (k8s.io/pod-security-admission/admission).
import type { Namespace, Pod, PodTemplateSpec } from '#api/core/v1';
import { forbidden, internalError, invalidObject } from '#apimachinery/errors';
import { aggregate } from '#apimachinery/field';
import type { AdmissionRequest } from '../../../registry/generic/admission.ts';
import type { ReadOnlyCluster } from '../../../storage/read-only-cluster.ts';
import { definePlugin, handling, type PluginFactory } from '../../plugin.ts';
import type { PodView } from './check.ts';
import { type PodSecurityConfiguration, podSecurityConfiguration } from './configuration.ts';
import {
  compareLevels,
  fullyPrivileged,
  levelText,
  type Policy,
  policyOf,
  sameLevel,
  violations,
  violationText,
} from './policy.ts';

const annotationPrefix = 'pod-security.kubernetes.io/';

/** Pods looked at when a namespace's level changes. */
const podsCheckedMax = 3000;

const ignoredSubresources = new Set(['exec', 'attach', 'binding', 'eviction', 'log', 'portforward', 'proxy', 'status']);

type Templated = {
  spec?: { template?: PodTemplateSpec; jobTemplate?: { spec?: { template?: PodTemplateSpec } } };
  template?: PodTemplateSpec;
};

const fromTemplate = ({ spec }: Templated) => spec?.template;
const templates: Readonly<Record<string, (object: Templated) => PodTemplateSpec | undefined>> = {
  '/podtemplates': ({ template }) => template,
  '/replicationcontrollers': fromTemplate,
  'apps/replicasets': fromTemplate,
  'apps/deployments': fromTemplate,
  'apps/statefulsets': fromTemplate,
  'apps/daemonsets': fromTemplate,
  'batch/jobs': fromTemplate,
  'batch/cronjobs': ({ spec }) => spec?.jobTemplate?.spec?.template,
};

const viewOf = (pod: Pod): PodView => ({ metadata: pod.metadata, spec: pod.spec ?? { containers: [] } });

function imagesChanged(pod: Pod, old: Pod): boolean {
  for (const list of ['containers', 'initContainers'] as const) {
    const now = pod.spec?.[list] ?? [];
    const before = old.spec?.[list] ?? [];
    if (now.length !== before.length || now.some(({ image }, i) => image !== before[i]?.image)) return true;
  }
  const before = new Map((old.spec?.ephemeralContainers ?? []).map(({ name, image }) => [name, image]));
  return (pod.spec?.ephemeralContainers ?? []).some(({ name, image }) => !before.has(name) || before.get(name) !== image);
}

class PodSecurity {
  readonly #cluster: ReadOnlyCluster;
  readonly #exemptions: PodSecurityConfiguration['exemptions'];
  readonly #defaults: Policy;

  constructor(cluster: ReadOnlyCluster, { defaults, exemptions }: PodSecurityConfiguration) {
    this.#cluster = cluster;
    this.#exemptions = exemptions;
    this.#defaults = defaults;
  }

  validate(request: AdmissionRequest): void {
    if (request.group === '' && request.resource === 'namespaces') return this.#namespace(request);
    if (request.group === '' && request.resource === 'pods') return this.#pod(request);
    const template = request.subresource === '' ? templates[`${request.group}/${request.resource}`] : undefined;
    if (template) this.#owner(request, template);
  }

  #exempt({ namespace, user, annotate }: AdmissionRequest): boolean {
    const isNamespace = this.#exemptions.namespaces.includes(namespace);
    if (!isNamespace && !this.#exemptions.usernames.includes(user.name)) return false;
    annotate?.(`${annotationPrefix}exempt`, isNamespace ? 'namespace' : 'user');
    return true;
  }

  #policy(namespace: string): ReturnType<typeof policyOf> | undefined {
    const found = this.#cluster.get<Namespace>('', 'namespaces', '', namespace);
    return found && policyOf(found.metadata.labels, this.#defaults);
  }

  #pod(request: AdmissionRequest): void {
    if (ignoredSubresources.has(request.subresource) || this.#exempt(request)) return;
    const found = this.#policy(request.namespace);
    if (!found) throw internalError(`failed to lookup namespace "${request.namespace}"`);
    if (found.errors.length === 0 && fullyPrivileged(found.policy))
      return request.annotate?.(`${annotationPrefix}enforce-policy`, 'privileged:latest');
    const pod = request.object as Pod;
    if (request.operation === 'UPDATE' && !imagesChanged(pod, request.oldObject as Pod)) return;
    this.#evaluate(request, found, viewOf(pod), true);
  }

  #owner(request: AdmissionRequest, template: (object: Templated) => PodTemplateSpec | undefined): void {
    if (this.#exempt(request)) return;
    const found = this.#policy(request.namespace);
    if (!found) return;
    const { warn, audit } = found.policy;
    if (found.errors.length === 0 && warn.level === 'privileged' && audit.level === 'privileged') return;
    const pod = template(request.object as Templated);
    if (pod?.spec) this.#evaluate(request, found, { metadata: pod.metadata ?? {}, spec: pod.spec }, false);
  }

  #evaluate(request: AdmissionRequest, found: ReturnType<typeof policyOf>, pod: PodView, enforce: boolean): void {
    const { policy, errors } = found;
    if (this.#exemptions.runtimeClasses.includes(pod.spec.runtimeClassName ?? ''))
      return request.annotate?.(`${annotationPrefix}exempt`, 'runtimeClass');
    if (errors.length > 0) request.annotate?.(`${annotationPrefix}error`, `Failed to parse policy: ${aggregate(errors)}`);
    if (enforce) request.annotate?.(`${annotationPrefix}enforce-policy`, levelText(policy.enforce));
    if (request.annotate) this.#audit(request, policy, pod);
    const broken = enforce ? violations(policy.enforce, pod) : [];
    if (broken.length > 0) {
      const why = `violates PodSecurity "${levelText(policy.enforce)}": ${violationText(broken)}`;
      throw forbidden({ group: request.group, resource: request.resource }, request.name || (pod.metadata.name ?? ''), why);
    }
    const warned = violations(policy.warn, pod);
    if (warned.length > 0) request.warn(`would violate PodSecurity "${levelText(policy.warn)}": ${violationText(warned)}`);
  }

  #audit({ annotate }: AdmissionRequest, { audit }: Policy, pod: PodView): void {
    const broken = violations(audit, pod);
    if (broken.length === 0) return;
    const text = `would violate PodSecurity "${levelText(audit)}": ${violationText(broken)}`;
    annotate?.(`${annotationPrefix}audit-violations`, text);
  }

  #namespace(request: AdmissionRequest): void {
    if (request.subresource !== '') return;
    const namespace = request.object as Namespace;
    const { policy, errors } = policyOf(namespace.metadata.labels, this.#defaults);
    const refuse = () => invalidObject({ group: '', kind: 'Namespace' }, request.name || (namespace.metadata.name ?? ''), errors);
    if (request.operation === 'CREATE') {
      if (errors.length > 0) throw refuse();
      return;
    }
    const before = policyOf((request.oldObject as Namespace).metadata.labels, this.#defaults);
    if (errors.length > 0 && JSON.stringify(errors) !== JSON.stringify(before.errors)) throw refuse();
    const { enforce } = policy;
    const old = before.policy.enforce;
    if (sameLevel(enforce, old) || enforce.level === 'privileged') return;
    if (enforce.minor === old.minor && compareLevels(enforce.level, old.level) < 1) return;
    if (this.#exemptions.namespaces.includes(namespace.metadata.name ?? '')) return;
    for (const warning of this.#existing(namespace.metadata.name ?? '', policy)) request.warn(warning);
  }

  #existing(namespace: string, { enforce }: Policy): string[] {
    const all = this.#cluster.list<Pod>('', 'pods', namespace);
    const found = new Map<string, string[]>();
    for (const pod of all.slice(0, podsCheckedMax)) {
      if (this.#exemptions.runtimeClasses.includes(pod.spec?.runtimeClassName ?? '')) continue;
      const reasons = violations(enforce, viewOf(pod)).map(({ reason }) => reason);
      if (reasons.length > 0) found.set(reasons.join(', '), [...(found.get(reasons.join(', ')) ?? []), pod.metadata.name ?? '']);
    }
    const warnings: string[] = [];
    if (all.length > podsCheckedMax) {
      warnings.push(
        `new PodSecurity enforce level only checked against the first ${podsCheckedMax} of ${all.length} existing pods`,
      );
    }
    if (found.size > 0) {
      warnings.push(
        `existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "${levelText(enforce)}"`,
      );
    }
    const lines = [...found].map(([reasons, names]) => {
      const others = names.length - 1;
      const [first] = names.sort();
      if (others === 0) return `${first}: ${reasons}`;
      return `${first} (and ${others} other pod${others === 1 ? '' : 's'}): ${reasons}`;
    });
    return [...warnings, ...lines.sort()];
  }
}

export const podSecurity: PluginFactory = ({ cluster }, configuration) => {
  const plugin = new PodSecurity(cluster, podSecurityConfiguration(configuration));
  return { name: 'PodSecurity', handles: handling('CREATE', 'UPDATE'), validate: (request) => plugin.validate(request) };
};

export const plugin = definePlugin('PodSecurity', podSecurity);
