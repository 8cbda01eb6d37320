// OwnerReferencesPermissionEnforcement: who may not delete an object may not give it an owner, and who may not hold up an owner's deletion may not do so by
// a reference that blocks it (plugin/pkg/admission/gc).
import type { OwnerReference } from '#apimachinery/meta';
import { parseApiVersion } from '#apimachinery/meta';
import { deepEqual } from '#utils';
import type { Decision } from '../../../authorization/types.ts';
import type { AdmissionRequest } from '../../../registry/generic/admission.ts';
import { definePlugin, deny, handling, type PluginContext, type PluginFactory } from '../../plugin.ts';
import { ConfigurationError, paramResource } from '../../policy/params.ts';

/** The status of a pod keeps the owners as they are by itself. */
const isExempt = ({ group, resource, subresource }: AdmissionRequest): boolean =>
  group === '' && resource === 'pods' && subresource === 'status';

const ownersOf = (object: AdmissionRequest['object']): readonly OwnerReference[] => object?.metadata?.ownerReferences ?? [];

function blockingAdded({ object, oldObject }: AdmissionRequest): OwnerReference[] {
  const before = new Map(ownersOf(oldObject).map((owner) => [owner.uid, owner.blockOwnerDeletion === true]));
  return ownersOf(object).filter(({ uid, blockOwnerDeletion }) => blockOwnerDeletion === true && before.get(uid) !== true);
}

const why = ({ reason, error }: Decision): string => `${reason}, ${error ?? '<nil>'}`;

function resourceOf({ cluster }: PluginContext, request: AdmissionRequest, { apiVersion, kind }: OwnerReference) {
  try {
    return paramResource(cluster, { apiVersion, kind });
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const missing = `no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`;
    const because = `cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}: ${missing}`;
    throw deny(request, `cannot set blockOwnerDeletion in this case because ${because}`);
  }
}

async function checkFinalizing(context: PluginContext, request: AdmissionRequest, owner: OwnerReference): Promise<void> {
  const { resource, namespaced } = resourceOf(context, request, owner);
  const { group, version } = parseApiVersion(owner.apiVersion);
  const namespace = namespaced ? request.namespace : '';
  const target = { group, version, resource, subresource: 'finalizers', namespace, name: owner.name };
  const decision = await context.authorizer.authorize({ user: request.user, verb: 'update', target });
  if (decision.allowed) return;
  const refused = "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on";
  throw deny(request, `${refused}: ${why(decision)}`);
}

export const ownerReferencesPermissionEnforcement: PluginFactory = (context) => ({
  name: 'OwnerReferencesPermissionEnforcement',
  handles: handling('CREATE', 'UPDATE'),
  async validate(request) {
    if (isExempt(request) || deepEqual(ownersOf(request.object), ownersOf(request.oldObject))) return;
    const { user, operation, group, version, resource, subresource, namespace, name } = request;
    const { authorizer } = context;
    if (operation !== 'CREATE') {
      const target = { group, version, resource, subresource, namespace, name };
      const decision = await authorizer.authorize({ user, verb: 'delete', target });
      if (!decision.allowed) throw deny(request, `cannot set an ownerRef on a resource you can't delete: ${why(decision)}`);
    }
    const added = blockingAdded(request);
    if (added.length === 0) return;
    const anything = { group: '*', version: '*', resource: '*', subresource: 'finalizers', namespace: '', name: '*' };
    if ((await authorizer.authorize({ user, verb: 'update', target: anything })).allowed) return;
    for (const owner of added) await checkFinalizing(context, request, owner);
  },
});

export const plugin = definePlugin('OwnerReferencesPermissionEnforcement', ownerReferencesPermissionEnforcement, {
  onByDefault: false,
});
