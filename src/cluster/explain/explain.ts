// What there is to know about an object, and why it is so: its state in words, the last decision of every control loop about it and its owners, the
// scheduler's verdict or score per node, what network policies mean for it, warnings, and requests about it that were refused.
import type { Event, Namespace, Pod } from '#api/core/v1';
import type { NetworkPolicy } from '#api/networking/v1';
import type { ClusterRoleBinding, RoleBinding } from '#api/rbac/v1';
import { StatusError } from '#apimachinery/errors';
import { controllerOf, type KubeObject, parseApiVersion } from '#apimachinery/meta';
import type { DecisionRecord } from '#controller-runtime';
import { explainPod, explainPolicy } from '#network-policy';
import type { DecisionTold } from '#scheduler';
import type { Refusal } from '#apiserver';
import type { PlaneAccess } from '../control-plane.ts';
import { identities } from '../certificates/identities.ts';
import { type FoundResource, findResource, resourceOfKind } from './find.ts';
import { Reader, resources } from './reader.ts';
import { accountUser, refusedSentences, rightsSentences, type Who } from './refused.ts';
import { stateOf } from './state.ts';
import { ageText, reasonText } from './words.ts';

export interface Explained {
  /** `Kind namespace/name`. */
  object: string;
  /** How it is, a sentence each. */
  state: string[];
  decisions: DecisionRecord[];
  scheduling?: DecisionTold;
  /** Components that could not be asked, each with the reason. */
  silent?: string[];
  /** What network policies say about it, a sentence each. */
  network?: string[];
  /** Events that warn, the newest first. */
  warnings: string[];
  /** Requests that were refused: about it or, of who is somebody, by it. */
  refused: string[];
}

/** The parts of a plane that explanations come from. */
export type ExplainedPlane = Pick<PlaneAccess, 'client' | 'about' | 'refusals'>;

interface Asking {
  plane: ExplainedPlane;
  reader: Reader;
  nowMs: number;
}

const ownersMax = 5;
const warningsMax = 3;

/** The object first, then its controllers upwards. Throws when the object is not there. `kind` may also be `user`, who is no object. */
export async function explain(
  plane: ExplainedPlane,
  { kind, namespace, name, nowMs }: { kind: string; namespace: string; name: string; nowMs: number },
): Promise<Explained[]> {
  const reader = new Reader(plane.client(identities.admin, 'sagong'));
  const asking: Asking = { plane, reader, nowMs };
  if (kind.toLowerCase() === 'user') return [await explainUser(asking, name)];
  const explained: Explained[] = [];
  let resource = await findResource(reader, kind);
  if (!resource) throw new Error(`the server doesn't have a resource type "${kind}"`);
  let next: string | undefined = name;
  for (let depth = 0; resource && next !== undefined && depth < ownersMax; depth++) {
    const object: KubeObject | undefined = await readObject(asking, resource, namespace, next, explained);
    if (!object) break;
    explained.push(await explainObject(asking, object, resource));
    const owner = controllerOf(object.metadata);
    next = owner?.name;
    resource = owner && (await resourceOfKind(reader, owner.kind, parseApiVersion(owner.apiVersion).group));
  }
  return explained;
}

/**
 * The object, or undefined where there is none to go on with: an owner that is gone, or a missing object about which requests were refused. Those
 * refusals are added to `explained`. Throws when the object is missing and nothing was refused.
 */
async function readObject(
  { plane, reader, nowMs }: Asking,
  resource: FoundResource,
  namespace: string,
  name: string,
  explained: Explained[],
): Promise<KubeObject | undefined> {
  try {
    return await reader.get(resource, name, resource.namespaced ? namespace : undefined);
  } catch (error) {
    if (explained.length > 0) return undefined;
    const about = (await plane.refusals()).refusals
      .filter(({ target }) => target?.resource === resource.resource && target.group === resource.group)
      .filter(({ target }) => !resource.namespaced || target?.namespace === namespace)
      .filter(({ target, verb }) => target?.name === name || (target?.name === '' && verb === 'create'));
    if (about.length === 0 || !(error instanceof StatusError) || error.status.code !== 404) throw error;
    const refused = refusedSentences(about, { nowMs, withUser: true });
    const key = resource.namespaced ? `${namespace}/${name}` : name;
    const state = ['does not exist; these requests may be why:'];
    explained.push({ object: `${resource.kind} ${key}`, state, decisions: [], warnings: [], refused });
    return undefined;
  }
}

async function explainObject(asking: Asking, object: KubeObject, resource: FoundResource): Promise<Explained> {
  const { plane, reader, nowMs } = asking;
  const { name = '', namespace, uid = '' } = object.metadata;
  const key = namespace ? `${namespace}/${name}` : name;
  const { decisions, scheduling, silent } = await plane.about({ group: resource.group, resource: resource.resource, key }, uid);
  const { nodeName } = (object as Partial<Pod>).spec ?? {};
  const unplaced = scheduling?.outcome.startsWith('placed on ') === false && nodeName === undefined;
  const whole = { ...object, kind: resource.kind };
  const [state, network, warnings, refused] = await Promise.all([
    stateOf(whole, resource, { reader, nowMs }),
    networkOf(reader, whole),
    warningsOf(asking, object, unplaced ? ['FailedScheduling'] : []),
    refusedOf(asking, object, resource),
  ]);
  return {
    object: `${resource.kind} ${key}`,
    // The scheduler's own words follow.
    state: unplaced ? state.filter((sentence) => !sentence.startsWith('has no node: ')) : state,
    decisions,
    ...(scheduling && { scheduling }),
    ...(silent.length > 0 && { silent }),
    ...network,
    warnings,
    refused,
  };
}

/** The warnings, each once, without those whose reasons are shown already. */
async function warningsOf({ reader, nowMs }: Asking, { metadata }: KubeObject, known: readonly string[]): Promise<string[]> {
  const fieldSelector = `involvedObject.uid=${metadata.uid},type=Warning`;
  const events = await reader.list<Event>(resources.events, metadata.namespace ?? 'default', { fieldSelector });
  const atMs = ({ series, lastTimestamp, eventTime, metadata: { creationTimestamp } }: Event): number =>
    Date.parse(series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? creationTimestamp ?? '') || 0;
  const seen = new Set<string>();
  return events
    .filter(({ reason }) => !known.includes(reason ?? ''))
    .sort((one, other) => atMs(other) - atMs(one))
    .filter(({ reason, message }) => {
      const text = reasonText(reason, message);
      return !seen.has(text) && seen.add(text);
    })
    .slice(0, warningsMax)
    .map((event) => {
      const times = event.series?.count ?? event.count ?? 1;
      const from = event.source?.component || event.reportingComponent || '';
      return `${from}${from ? ' warned' : 'warning'} ${ageText(atMs(event), nowMs)} ago${times > 1 ? `, ${times} times` : ''}: ${reasonText(event.reason, event.message)}`;
    });
}

async function refusedOf({ plane, nowMs, reader }: Asking, { metadata }: KubeObject, resource: FoundResource): Promise<string[]> {
  const { name = '', namespace = '' } = metadata;
  if (resource.kind === 'ServiceAccount' && resource.group === '')
    return identitySentences({ nowMs, reader }, accountUser(namespace, name), (await plane.refusals()).refusals);
  const about = (await plane.refusals()).refusals.filter(
    ({ target }) =>
      target?.group === resource.group &&
      target.resource === resource.resource &&
      target.name === name &&
      target.namespace === namespace,
  );
  return refusedSentences(about, { nowMs, withUser: true });
}

async function identitySentences(
  { reader, nowMs }: Pick<Asking, 'reader' | 'nowMs'>,
  who: Who,
  all: readonly Refusal[],
): Promise<string[]> {
  const [bindings, clusterBindings] = await Promise.all([
    reader.list<RoleBinding>(resources.roleBindings),
    reader.list<ClusterRoleBinding>(resources.clusterRoleBindings),
  ]);
  const refusals = all.filter(({ user }) => user === who.name);
  return [...rightsSentences(who, { bindings, clusterBindings }), ...refusedSentences(refusals, { nowMs, withUser: false })];
}

async function explainUser(asking: Asking, name: string): Promise<Explained> {
  const { refusals, silent } = await asking.plane.refusals();
  const known = refusals.find(({ user }) => user === name);
  const refused = await identitySentences(asking, { name, groups: known?.groups ?? [] }, refusals);
  const state = known ? [] : ['no request of this user was refused lately'];
  return { object: `User ${name}`, state, decisions: [], ...(silent.length > 0 && { silent }), warnings: [], refused };
}

/** What network policies mean for a pod, or a policy for pods. */
async function networkOf(reader: Reader, object: KubeObject): Promise<Pick<Explained, 'network'>> {
  const isPolicy = object.kind === 'NetworkPolicy';
  if (!isPolicy && object.kind !== 'Pod') return {};
  const policies = await reader.list<NetworkPolicy>(resources.policies, object.metadata.namespace);
  if (policies.length === 0) return {};
  const [pods, namespaces] = await Promise.all([reader.list<Pod>(resources.pods), reader.list<Namespace>(resources.namespaces)]);
  const world = { policies, pods, namespaces };
  return { network: isPolicy ? explainPolicy(object as NetworkPolicy, world) : explainPod(object as Pod, world) };
}
