// Who may write which part of a ResourceClaim's status: the right to the subresource `status` alone gives nobody a device (KEP-4817; pkg/registry/resource,
// AuthorizedForBinding and AuthorizedForDeviceStatus). Allocations and reservations need a right to `resourceclaims/binding`, what a driver says of its devices one to `resourceclaims/driver`.
import type { AllocatedDeviceStatus, AllocationResult, ResourceClaim } from '#api/resource/v1';
import { type FieldError, forbidden, root } from '#apimachinery/field';
import { asKind } from '#apimachinery/meta';
import { extraKeys } from '../../authentication/users.ts';
import { forbiddenError } from '../../authorization/messages.ts';
import type { Authorizer } from '../../authorization/types.ts';
import type { Attributes, UserInfo } from '../../request/request.ts';
import type { HookedWrite, StorageHook } from '../generic/storage-hook.ts';
import { deepEqual } from '../generic/values.ts';

type Status = NonNullable<ResourceClaim['status']>;

/** Why the write is refused, in upstream's words; undefined: it is not. */
async function refusal(authorizer: Authorizer, attributes: Attributes): Promise<string | undefined> {
  const { allowed, reason, error } = await authorizer.authorize(attributes);
  if (allowed) return undefined;
  const why = error === undefined ? reason : reason === '' ? error : `${error}: ${reason}`;
  return forbiddenError(attributes, why).message;
}

const deviceKey = ({ driver, pool, device, shareID = '' }: AllocatedDeviceStatus): string =>
  JSON.stringify([driver, pool, device, shareID]);

/** Drivers of whose devices the status differs, in order. */
function changedDrivers({ devices: now = [] }: Status, { devices: before = [] }: Status): string[] {
  const old = new Map(before.map((device) => [deviceKey(device), device]));
  const changed = new Set<string>();
  for (const device of now) {
    const key = deviceKey(device);
    if (!deepEqual(old.get(key), device)) changed.add(device.driver);
    old.delete(key);
  }
  for (const { driver } of old.values()) changed.add(driver);
  return [...changed].sort();
}

/** The one node whose devices are allocated; '' where they are not of one node by its name. */
function nodeOf(allocation: AllocationResult | undefined): string {
  const [term, ...more] = allocation?.nodeSelector?.nodeSelectorTerms ?? [];
  if (!term || more.length > 0 || (term.matchExpressions?.length ?? 0) > 0 || term.matchFields?.length !== 1) return '';
  const [{ key, operator, values = [] }] = term.matchFields as [NonNullable<typeof term.matchFields>[number]];
  return key === 'metadata.name' && operator === 'In' && values.length === 1 ? (values[0] ?? '') : '';
}

/** Whether the user is a service account whose token was made for a pod on that node. */
function isOnNode({ name, extra = {} }: UserInfo, node: string): boolean {
  const nodes = extra[extraKeys.nodeName] ?? [];
  return node !== '' && name.startsWith('system:serviceaccount:') && nodes.length === 1 && nodes[0] === node;
}

/** Makes the hook that asks whether a user may change the allocation of a ResourceClaim. */
export function claimRightsHook(authorizer: Authorizer): StorageHook {
  const mayBind = async ({ request: { user, verb }, target }: HookedWrite): Promise<FieldError[]> => {
    const why = await refusal(authorizer, { user, verb, target: { ...target, subresource: 'binding', namespace: '', name: '' } });
    if (why === undefined) return [];
    const what = 'changing status.allocation or status.reservedFor requires resource="resourceclaims/binding"';
    return [forbidden(root('status', 'allocation'), `${what}, verb="${verb}" permission: ${why}`)];
  };
  const mayTell = async (drivers: readonly string[], node: string, write: HookedWrite): Promise<FieldError[]> => {
    const { user, verb } = write.request;
    const verbs = [...(isOnNode(user, node) ? [`associated-node:${verb}`] : []), `arbitrary-node:${verb}`];
    const errors: FieldError[] = [];
    for (const driver of drivers) {
      let first: string | undefined;
      for (const one of verbs) {
        const why = await refusal(authorizer, {
          user,
          verb: one,
          target: { ...write.target, subresource: 'driver', name: driver },
        });
        if (why === undefined) {
          first = undefined;
          break;
        }
        first ??= why;
      }
      if (first === undefined) continue;
      const what = `changing status.devices requires resource="resourceclaims/driver", verb="[${verbs.join(' ')}]" permission`;
      errors.push(forbidden(root('status', 'devices'), `${what}: ${first}`));
    }
    return errors;
  };
  return {
    group: 'resource.k8s.io',
    resource: 'resourceclaims',
    async problems(draft, old, write) {
      if (write.target.subresource !== 'status' || !old) return [];
      const now = asKind<ResourceClaim>(draft).status ?? {};
      const before = asKind<ResourceClaim>(old).status ?? {};
      const bound = deepEqual(now.allocation, before.allocation) && deepEqual(now.reservedFor, before.reservedFor);
      const drivers = now.allocation ? changedDrivers(now, before) : [];
      return [...(bound ? [] : await mayBind(write)), ...(await mayTell(drivers, nodeOf(now.allocation), write))];
    },
  };
}
