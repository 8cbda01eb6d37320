// What the components of a cluster decided about an object, and why: the last decision of every control loop about it and its owners, and the
// scheduler's verdict or score per node.
import { builtinResources } from '#api';
import { controllerOf, type KubeObject, parseApiVersion } from '#apimachinery/meta';
import type { Namespace, Pod } from '#api/core/v1';
import type { NetworkPolicy } from '#api/networking/v1';
import type { KubeClient } from '#client';
import type { DecisionRecord, ObjectId } from '#controller-runtime';
import { explainPod, explainPolicy } from '#network-policy';
import type { DecisionTold } from '#scheduler';
import type { PlaneAccess } from './control-plane.ts';
import { identities } from './certificates/identities.ts';

export interface Explained {
  /** `Kind namespace/name`. */
  object: string;
  decisions: DecisionRecord[];
  scheduling?: DecisionTold;
  /** What network policies say about it, a sentence each. */
  network?: string[];
  /** Components that could not be asked, each with the reason. */
  silent?: string[];
}

const ownersMax = 5;

/** Finds the resource a user means: plural, singular, kind or short name. */
function resourceOf(word: string) {
  const wanted = word.toLowerCase();
  return builtinResources().find(({ resource, singularName, kind, shortNames = [] }) =>
    [resource, singularName, kind.kind.toLowerCase(), ...shortNames].includes(wanted),
  );
}

/** The object that `deployment/web` means. Throws for a word that names no resource. */
export function objectNamed(object: string, namespace: string): ObjectId {
  const slash = object.indexOf('/');
  const resource = resourceOf(object.slice(0, Math.max(0, slash)));
  if (!resource) throw new Error(`name an object as kind/name, e.g. deployment/web, not ${JSON.stringify(object)}`);
  const name = object.slice(slash + 1);
  return { group: resource.group, resource: resource.resource, key: resource.namespaced ? `${namespace}/${name}` : name };
}

/** The object first, then its controllers upwards. Throws when the object is not there. */
export async function explain(plane: PlaneAccess, kind: string, namespace: string, name: string): Promise<Explained[]> {
  const client = plane.client(identities.admin, 'sagong');
  const explained: Explained[] = [];
  let next: { kind: string; name: string; apiVersion?: string } | undefined = { kind, name };
  for (let depth = 0; next && depth < ownersMax; depth++) {
    const wanted: { kind: string; name: string; apiVersion?: string } = next;
    const resource = wanted.apiVersion
      ? builtinResources().find(
          (one) => one.kind.kind === wanted.kind && one.group === parseApiVersion(wanted.apiVersion ?? '').group,
        )
      : resourceOf(wanted.kind);
    if (!resource) throw new Error(`the server doesn't have a resource type "${wanted.kind}"`);
    const object: KubeObject = await client.resource(resource, resource.namespaced ? namespace : undefined).get(wanted.name);
    const key = object.metadata.namespace ? `${object.metadata.namespace}/${wanted.name}` : wanted.name;
    const id = { group: resource.group, resource: resource.resource, key };
    const { decisions, scheduling, silent } = await plane.about(id, object.metadata.uid ?? '');
    explained.push({
      object: `${resource.kind.kind} ${key}`,
      decisions,
      ...(scheduling && { scheduling }),
      ...(await networkOf(client, object)),
      ...(silent.length > 0 && { silent }),
    });
    const owner = controllerOf(object.metadata);
    next = owner && { kind: owner.kind, name: owner.name, apiVersion: owner.apiVersion };
  }
  return explained;
}

const networking = { group: 'networking.k8s.io', version: 'v1', resource: 'networkpolicies' };
const core = (resource: string) => ({ group: '', version: 'v1', resource });

/** Of pods and network policies. */
async function networkOf(client: KubeClient, object: KubeObject): Promise<Pick<Explained, 'network'>> {
  const isPolicy = object.kind === 'NetworkPolicy';
  if (!isPolicy && object.kind !== 'Pod') return {};
  const policies = (await client.resource<NetworkPolicy>(networking, object.metadata.namespace).list()).items;
  if (policies.length === 0) return {};
  const [pods, namespaces] = await Promise.all([
    client.resource<Pod>(core('pods')).list(),
    client.resource<Namespace>(core('namespaces')).list(),
  ]);
  const world = { policies, pods: pods.items, namespaces: namespaces.items };
  return { network: isPolicy ? explainPolicy(object as NetworkPolicy, world) : explainPod(object as Pod, world) };
}

/** The explanation as people read it. */
export function explanationText(explained: readonly Explained[], nowMs: number): string {
  const ago = (atMs: number): string => `${Math.max(0, Math.round((nowMs - atMs) / 1000))}s ago`;
  return explained
    .map(({ object, decisions, scheduling, network = [], silent = [] }) => {
      const lines = [object];
      if (scheduling)
        lines.push(
          `  scheduler: ${scheduling.outcome}`,
          ...scheduling.nodes.map(({ node, verdict }) => `    ${node}: ${verdict}`),
        );
      lines.push(...network.map((line) => `  ${line}`));
      for (const { controller, because, effects, failure, atMs } of decisions) {
        lines.push(`  ${controller} (${ago(atMs)}): ${because}`);
        if (effects.length > 0) lines.push(`    did: ${effects.join('; ')}`);
        if (failure) lines.push(`    failed: ${failure}`);
      }
      if (lines.length === 1 && silent.length === 0)
        lines.push('  no control loop has decided anything about it since the cluster started');
      lines.push(...silent.map((line) => `  not asked: ${line}`));
      return lines.join('\n');
    })
    .join('\n\n');
}
