// Kubelets may do what a kubelet does, to objects that concern their own node (KEP: Node authorizer,
// plugin/pkg/auth/authorizer/node). The texts of refusals are upstream's.
import { parse as parseFields } from '#apimachinery/fields';
import { nodeIdentity } from '../authentication/users.ts';
import { clusterRoles } from './policy/cluster-roles.ts';
import { isRules, parseRule } from './policy/role-data.ts';
import type { Attributes } from '../request/request.ts';
import type { ReadOnlyCluster } from '../storage/read-only-cluster.ts';
import type { Authorizer, Decision } from './types.ts';
import { NodeGraph } from './node-graph.ts';
import { type CompiledRule, compileRules } from './rules.ts';

const allow: Decision = { allowed: true, reason: '' };
const noOpinion = (reason = ''): Decision => ({ allowed: false, reason });

const readVerbs = new Set(['get', 'list', 'watch']);
const ownVerbs = new Set(['get', 'create', 'update', 'patch', 'delete']);

type Target = NonNullable<Attributes['target']>;
type Rule = (node: string, asked: Attributes, target: Target) => Decision;

const nodeRules = (): readonly CompiledRule[] => {
  const data = clusterRoles['system:node'] ?? [];
  return compileRules((isRules(data) ? data : (data.rules ?? [])).map(parseRule));
};

/** The value a list is limited to. */
function selectedField({ options }: Attributes, field: string): string | undefined {
  const { fieldSelector } = options ?? {};
  if (!fieldSelector) return undefined;
  try {
    return parseFields(fieldSelector).exactMatch(field);
  } catch {
    return undefined;
  }
}

function ownLease(node: string, { verb }: Attributes, { namespace, name }: Target): Decision {
  if (!ownVerbs.has(verb)) return noOpinion('can only get, create, update, patch, or delete a node lease');
  if (namespace !== 'kube-node-lease') return noOpinion('can only access leases in the "kube-node-lease" system namespace');
  if (verb === 'create' || name === node) return allow;
  return noOpinion('can only access node lease with the same name as the requesting node');
}

function ownCsiNode(node: string, { verb }: Attributes, { subresource, name }: Target): Decision {
  if (!ownVerbs.has(verb)) return noOpinion('can only get, create, update, patch, or delete a CSINode');
  if (subresource !== '') return noOpinion('cannot authorize CSINode subresources');
  if (verb === 'create' || name === node) return allow;
  return noOpinion('can only access CSINode with the same name as the requesting node');
}

function ownNode(node: string, { verb }: Attributes, { subresource, name }: Target): Decision {
  const writes = verb === 'update' || verb === 'patch';
  if (subresource === 'status') return writes ? allow : noOpinion();
  if (subresource !== '') return noOpinion();
  if (writes || verb === 'create') return allow;
  if (!readVerbs.has(verb)) return noOpinion();
  if (name === node) return allow;
  return noOpinion(
    name === ''
      ? `node '${node}' cannot read all nodes, only its own Node object`
      : `node '${node}' cannot read '${name}', only its own Node object`,
  );
}

/** Single objects that belong to the node, for reading. */
const getOnly =
  (related: Rule): Rule =>
  (node, asked, target) => {
    if (asked.verb !== 'get') return noOpinion('can only get individual resources of this type');
    if (target.subresource !== '') return noOpinion('cannot get subresource');
    return related(node, asked, target);
  };

/** Objects that belong to the node, one by one or by a watch of one name. */
const read =
  (related: Rule): Rule =>
  (node, asked, target) => {
    if (!readVerbs.has(asked.verb)) return noOpinion('can only read resources of this type');
    if (target.subresource !== '') return noOpinion('cannot read subresource');
    if (target.namespace === '') return noOpinion('can only read namespaced object of this type');
    return related(node, asked, target);
  };

/** Claims of the node's pods: their status may be written. */
const claim =
  (related: Rule): Rule =>
  (node, asked, target) => {
    if (target.subresource !== 'status') return getOnly(related)(node, asked, target);
    if (asked.verb !== 'update' && asked.verb !== 'patch') return noOpinion('can only get/update/patch this type');
    return related(node, asked, target);
  };

/** Tokens for the accounts of the node's pods. */
const account =
  (related: Rule): Rule =>
  (node, asked, target) => {
    if (asked.verb === 'get' && target.subresource === '') return read(related)(node, asked, target);
    if (asked.verb !== 'create' || target.name === '') {
      return noOpinion('can only create tokens for individual service accounts');
    }
    if (target.subresource !== 'token') return noOpinion('can only create token subresource of serviceaccount');
    return related(node, asked, target);
  };

/** The node's own devices. */
const slice =
  (related: Rule): Rule =>
  (node, asked, target) => {
    if (target.subresource !== '') return noOpinion('cannot authorize ResourceSlice subresources');
    if (asked.verb === 'create') return allow;
    if (['get', 'update', 'patch', 'delete'].includes(asked.verb)) return related(node, asked, target);
    if (!['list', 'watch', 'deletecollection'].includes(asked.verb)) {
      return noOpinion(
        'only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection',
      );
    }
    return selectedField(asked, 'spec.nodeName') === node
      ? allow
      : noOpinion('can only list/watch/deletecollection resourceslices with nodeName field selector');
  };

/** The node's own pods. */
const pod =
  (related: Rule): Rule =>
  (node, asked, target) => {
    const { verb } = asked;
    if (target.subresource === 'status') return verb === 'update' || verb === 'patch' ? allow : noOpinion();
    if (target.subresource === 'eviction') return verb === 'create' ? allow : noOpinion();
    if (target.subresource !== '') return noOpinion();
    if (verb === 'create' || verb === 'delete') return allow;
    if (verb === 'get') return getOnly(related)(node, asked, target);
    if (verb !== 'list' && verb !== 'watch') return noOpinion();
    if (selectedField(asked, 'spec.nodeName') === node) return allow;
    if (target.name !== '') return related(node, asked, target);
    return noOpinion('can only list/watch pods with spec.nodeName field selector');
  };

/** The rules that need to know what belongs to the node. */
function relatedRules(graph: NodeGraph): Readonly<Record<string, Rule>> {
  const related: Rule = (node, _asked, { resource, namespace, name }) => {
    if (name === '') return noOpinion('No Object name found');
    return graph.relates(node, resource, namespace, name)
      ? allow
      : noOpinion(`no relationship found between node '${node}' and this object`);
  };
  return {
    '/secrets': read(related),
    '/configmaps': read(related),
    '/persistentvolumeclaims': claim(related),
    '/persistentvolumes': getOnly(related),
    'resource.k8s.io/resourceclaims': getOnly(related),
    'storage.k8s.io/volumeattachments': getOnly(related),
    '/serviceaccounts': account(related),
    'coordination.k8s.io/leases': ownLease,
    'storage.k8s.io/csinodes': ownCsiNode,
    'resource.k8s.io/resourceslices': slice(related),
    '/nodes': ownNode,
    '/pods': pod(related),
    // Served only as an alpha kind upstream; nothing of it is a node's by default.
    'certificates.k8s.io/podcertificaterequests': () => noOpinion(),
  };
}

/** The authorizer of `--authorization-mode=Node`. */
export function createNodeAuthorizer(cluster: ReadOnlyCluster): Authorizer & { stop(): void } {
  const graph = new NodeGraph(cluster);
  const rules = relatedRules(graph);
  const general = nodeRules();
  return {
    authorize(asked) {
      const node = nodeIdentity(asked.user);
      if (node === undefined) return noOpinion();
      if (node === '') return noOpinion(`unknown node for user "${asked.user.name}"`);
      const { target } = asked;
      const rule = target && rules[`${target.group}/${target.resource}`];
      if (rule && target) return rule(node, asked, target);
      const combined = !target ? '' : target.subresource === '' ? target.resource : `${target.resource}/${target.subresource}`;
      return general.some((candidate) => candidate.allows(asked, combined)) ? allow : noOpinion();
    },
    rulesFor: (user) => ({
      resourceRules: [],
      nonResourceRules: [],
      ...(nodeIdentity(user) === undefined
        ? { incomplete: false }
        : { incomplete: true, evaluationError: 'node authorizer does not support user rule resolution' }),
    }),
    stop: () => graph.stop(),
  };
}
