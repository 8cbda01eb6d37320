// Writes odd objects of every kind through the API, as anybody with the right may: what is refused is tried again less odd, what is accepted
// stays. Nobody may be told of a fault inside the server for it.
import { readFileSync } from 'node:fs';
import { type BuiltinResource, builtinResources, builtinSchema } from '#api';
import { parseYaml } from '#apimachinery/codec';
import { isAlreadyExists, isConflict, isNotFound, StatusError } from '#apimachinery/errors';
import { apiVersionOf, type KubeObject, type UnknownObject } from '#apimachinery/meta';
import type { FieldSchema } from '#apimachinery/schema';
import type { KubeClient, ResourceClient } from '#client';
import type { Rng } from '#utils';
import { OddValues, typeOf } from './odd-values.ts';

type Json = Record<string, unknown>;
export type Outcome = 'accepted' | 'refused' | 'fault';

export const oddNamespaces = ['odd-1', 'odd-2', 'odd-3'];
const attemptsMax = 6;
const podsMax = 7;

const fixtures = readFileSync(new URL('../../kinds/fixtures.yaml', import.meta.url), 'utf8')
  .split(/^---$/m)
  .map((text) => parseYaml(text).value as UnknownObject);

/** Keys that controllers read, whatever anybody wrote there. */
const knownAnnotations = [
  'deployment.kubernetes.io/revision',
  'deployment.kubernetes.io/revision-history',
  'deployment.kubernetes.io/desired-replicas',
  'deployment.kubernetes.io/max-replicas',
  'deprecated.deployment.rollback.to',
  'deprecated.daemonset.template.generation',
  'controller.kubernetes.io/pod-deletion-cost',
  'batch.kubernetes.io/job-completion-index',
  'batch.kubernetes.io/job-tracking',
  'batch.kubernetes.io/job-index-failure-count',
  'batch.kubernetes.io/cronjob-scheduled-timestamp',
  'node.alpha.kubernetes.io/ttl',
  'alpha.kubernetes.io/provided-node-ip',
  'volumes.kubernetes.io/controller-managed-attach-detach',
  'storage.alpha.kubernetes.io/migrated-plugins',
  'volume.kubernetes.io/selected-node',
  'volume.kubernetes.io/storage-provisioner',
  'volume.beta.kubernetes.io/storage-class',
  'pv.kubernetes.io/bind-completed',
  'pv.kubernetes.io/bound-by-controller',
  'pv.kubernetes.io/provisioned-by',
  'endpoints.kubernetes.io/last-change-trigger-time',
  'endpoints.kubernetes.io/over-capacity',
  'service.kubernetes.io/topology-mode',
  'service.kubernetes.io/topology-aware-hints',
  'service.beta.kubernetes.io/local-load-balancer-kind',
  'control-plane.alpha.kubernetes.io/leader',
  'kubernetes.io/service-account.name',
  'kubernetes.io/config.source',
  'kubernetes.io/config.mirror',
  'kubernetes.io/enforce-mountable-secrets',
  'pod-security.kubernetes.io/enforce',
  'simulated.sagong.dev/start-delay',
  'simulated.sagong.dev/exit-code',
  'autoscaling.alpha.kubernetes.io/conditions',
];
const knownLabels = [
  'app',
  'kubernetes.io/service-name',
  'endpointslice.kubernetes.io/managed-by',
  'endpointslice.kubernetes.io/skip-mirror',
  'service.kubernetes.io/headless',
  'service.kubernetes.io/service-proxy-name',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'node.kubernetes.io/exclude-from-external-load-balancers',
  'node.kubernetes.io/instance-type',
  'pod-template-hash',
  'controller-revision-hash',
  'batch.kubernetes.io/job-name',
  'batch.kubernetes.io/controller-uid',
  'job-name',
  'statefulset.kubernetes.io/pod-name',
  'apps.kubernetes.io/pod-index',
  'kubernetes.io/hostname',
  'ipaddress.kubernetes.io/managed-by',
  'rbac.authorization.k8s.io/aggregate-to-view',
];
const labelValues = ['', 'a', '0', '-1'.slice(1), 'v'.repeat(63), 'odd-1', 'true', '1e9'];

/** Rules that would stop everybody else's writes are about a group that nobody has. */
const harmlessRules = [
  { operations: ['CREATE'], apiGroups: ['nothing.example.com'], apiVersions: ['v1'], resources: ['nothings'] },
];
function tamed(object: UnknownObject): UnknownObject {
  const { kind, spec, webhooks } = object as UnknownObject & { spec?: Json; webhooks?: Json[] };
  if (kind?.endsWith('WebhookConfiguration')) for (const hook of webhooks ?? []) if (hook) hook['rules'] = harmlessRules;
  if (kind?.endsWith('AdmissionPolicy') && spec) spec['matchConstraints'] = { resourceRules: harmlessRules };
  if (kind === 'Service' && spec) for (const name of ['clusterIP', 'clusterIPs']) delete spec[name];
  if (kind === 'PriorityClass') delete object['globalDefault'];
  if (spec) limitPods(spec);
  return object;
}

/** Whoever asks for a million pods gets them; here that would only take long. */
function limitPods(spec: Json): void {
  for (const name of ['replicas', 'parallelism', 'completions']) if (Number(spec[name]) > podsMax) spec[name] = podsMax;
  for (const inner of [spec['jobTemplate'], spec['spec']]) if (isObject(inner)) limitPods(inner);
}

/** A component whose rights an administrator takes away cannot do its work, and is right not to. */
const isRightOfComponent = ({ apiVersion, metadata }: UnknownObject): boolean =>
  apiVersion === 'rbac.authorization.k8s.io/v1' && (metadata.name ?? '').startsWith('system:');

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

export class OddWriter {
  readonly #client: KubeClient;
  readonly #rng: Rng;
  readonly #values: OddValues;
  /** What was written, for the story of a failing seed. */
  readonly log: string[] = [];
  readonly faults: string[] = [];
  readonly resources: readonly BuiltinResource[];
  readonly #withStatus: ReadonlySet<string>;
  #count = 0;

  constructor(client: KubeClient, rng: Rng) {
    this.#client = client;
    this.#rng = rng;
    this.#values = new OddValues(rng);
    const all = builtinResources();
    this.resources = all.filter(
      ({ subresource, verbs }) => subresource === '' && verbs.includes('create') && verbs.includes('watch'),
    );
    this.#withStatus = new Set(
      all
        .filter(({ subresource }) => subresource === 'status')
        .map(({ group, version, resource }) => `${group}/${version}/${resource}`),
    );
  }

  /** One odd object of the resource. */
  async create(resource: BuiltinResource): Promise<Outcome> {
    for (let mutations = 4; mutations >= 0; mutations -= 2) {
      const object = this.#made(resource, mutations);
      if (!object) return 'refused';
      const outcome = await this.#write(`create ${resource.resource}`, object, () => this.#of(resource, object).create(object));
      if (outcome !== 'refused') return outcome;
    }
    return 'refused';
  }
  /** Changes the spec of an object that is there. */
  async update(resource: BuiltinResource): Promise<Outcome> {
    const object = await this.#some(resource);
    if (!object || isRightOfComponent(object)) return 'refused';
    for (let attempt = 0; attempt < 3; attempt++) {
      const changed = structuredClone(object);
      this.#mutate(resource, changed);
      const outcome = await this.#write(`update ${resource.resource}`, tamed(changed), () =>
        this.#of(resource, object).update(changed),
      );
      if (outcome !== 'refused') return outcome;
    }
    return 'refused';
  }
  /** A status out of nothing for an object that is there. */
  async status(resource: BuiltinResource, name?: string): Promise<Outcome> {
    const { group, version, kind } = resource;
    const ref = typeOf(group, version, kind.kind)?.fields.find((field) => field.name === 'status')?.ref;
    if (!ref || !this.#withStatus.has(`${group}/${version}/${resource.resource}`)) return 'refused';
    const object = await this.#some(resource, name);
    if (!object) return 'refused';
    let status = this.#values.message(ref);
    for (let attempt = 0; attempt < attemptsMax && Object.keys(status).length > 0; attempt++) {
      const changed = { ...structuredClone(object), status };
      let refusal: StatusError | undefined;
      const outcome = await this.#write(`status of ${resource.resource}`, changed, async () => {
        try {
          await this.#of(resource, object).updateStatus(changed);
        } catch (error) {
          if (error instanceof StatusError) refusal = error;
          throw error;
        }
      });
      if (outcome !== 'refused') return outcome;
      status = this.#without(status, refusal);
    }
    return 'refused';
  }
  /** Odd words where components look for theirs. */
  async annotate(resource: BuiltinResource): Promise<Outcome> {
    const object = await this.#some(resource);
    const name = object?.metadata.name;
    if (!object || !name || /^(node-\d+|default|kube-)/.test(name)) return 'refused';
    const annotations = { [this.#values.pick(knownAnnotations)]: this.#values.text() };
    const labels = this.#values.chance(30) ? { [this.#values.pick(knownLabels)]: this.#values.pick(labelValues) } : {};
    const patch = { metadata: { annotations, labels } };
    return this.#write(`annotate ${resource.resource} ${name}`, patch, () =>
      this.#of(resource, object).patch(name, 'application/merge-patch+json', patch),
    );
  }
  async remove(resource: BuiltinResource): Promise<Outcome> {
    const object = await this.#some(resource);
    const name = object?.metadata.name;
    if (!object || !name?.startsWith('odd-') || oddNamespaces.includes(name)) return 'refused';
    return this.#write(`delete ${resource.resource} ${name}`, {}, () => this.#of(resource, object).delete(name));
  }

  #of(resource: BuiltinResource, { metadata }: KubeObject): ResourceClient<UnknownObject> {
    return this.#client.resource<UnknownObject>(resource, resource.namespaced ? (metadata.namespace ?? '') : undefined);
  }
  async #write(what: string, object: unknown, write: () => Promise<unknown>): Promise<Outcome> {
    try {
      await write();
      this.log.push(`${what}: ${JSON.stringify(object).slice(0, 2000)}`);
      return 'accepted';
    } catch (error) {
      if (error instanceof StatusError && (Number(error.status.code) < 500 || !error.status.reason)) return 'refused';
      if (isConflict(error) || isNotFound(error) || isAlreadyExists(error)) return 'refused';
      this.faults.push(
        `${what}: ${error instanceof Error ? error.stack : String(error)}\n${JSON.stringify(object).slice(0, 2000)}`,
      );
      return 'fault';
    }
  }
  async #some(resource: BuiltinResource, name?: string): Promise<UnknownObject | undefined> {
    const { items } = await this.#client.resource<UnknownObject>(resource).list();
    const found = name === undefined ? items : items.filter(({ metadata }) => metadata.name === name);
    const object = found[this.#rng.int(Math.max(1, found.length))];
    return object && { ...object, kind: resource.kind.kind, apiVersion: apiVersionOf(resource.group, resource.version) };
  }
  #made(resource: BuiltinResource, mutations: number): UnknownObject | undefined {
    const apiVersion = apiVersionOf(resource.group, resource.version);
    const fixture = fixtures.find((one) => one.kind === resource.kind.kind && one.apiVersion === apiVersion);
    if (!fixture) return undefined;
    const object = structuredClone(fixture);
    const name =
      fixture.metadata.name === 'a' || fixture.metadata.name === 'a.1' ? `odd-${++this.#count}` : fixture.metadata.name;
    object.metadata = { ...object.metadata, ...(name && { name }), ...this.#metadata() };
    if (resource.namespaced) object.metadata.namespace = this.#values.pick(oddNamespaces);
    for (let index = 0; index < mutations; index++) this.#mutate(resource, object);
    return tamed(object);
  }
  #metadata(): Partial<KubeObject['metadata']> {
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'gone', uid: this.#rng.uuid(), controller: true };
    return {
      ...(this.#values.chance(40) && { labels: { app: 'a', [this.#values.pick(knownLabels)]: this.#values.pick(labelValues) } }),
      ...(this.#values.chance(40) && { annotations: { [this.#values.pick(knownAnnotations)]: this.#values.text() } }),
      ...(this.#values.chance(5) && { ownerReferences: [owner] }),
      ...(this.#values.chance(5) && { finalizers: ['odd.example.com/hold'] }),
    };
  }
  /** Puts an odd value somewhere below the top of the object, metadata and status aside. */
  #mutate({ group, version, kind }: BuiltinResource, object: UnknownObject): void {
    const type = typeOf(group, version, kind.kind);
    const fields = type?.fields.filter(({ name }) => !['kind', 'apiVersion', 'metadata', 'status'].includes(name)) ?? [];
    if (fields.length > 0) this.#mutateIn(fields, object as unknown as Json, 0);
  }
  #mutateIn(fields: readonly FieldSchema[], holder: Json, depth: number): void {
    const field = this.#values.pick(fields);
    const value = holder[field.name];
    const inner = field.type === 'message' && field.ref ? builtinSchema().type(field.ref)?.fields : undefined;
    const inside = Array.isArray(value)
      ? (value as unknown[])
      : field.shape === 'map' && isObject(value)
        ? Object.values(value)
        : [value];
    const element = inside[this.#rng.int(Math.max(1, inside.length))];
    if (inner?.length && isObject(element) && this.#values.chance(depth === 0 ? 95 : 75))
      this.#mutateIn(inner, element, depth + 1);
    else if (this.#values.chance(15)) delete holder[field.name];
    else holder[field.name] = this.#values.value(field, 2);
  }
  /** Without what the answer complains about; without a half where it does not say. */
  #without(status: Json, refusal: StatusError | undefined): Json {
    const causes = refusal?.status.details?.causes ?? [];
    const named = new Set(causes.map(({ field = '' }) => /^status\.([A-Za-z]+)/.exec(field)?.[1]));
    const kept = Object.entries(status).filter(([name]) => !named.has(name));
    const fewer = kept.length < Object.keys(status).length ? kept : kept.filter(() => this.#values.chance(50));
    return Object.fromEntries(fewer.length < Object.keys(status).length ? fewer : fewer.slice(1));
  }
}
