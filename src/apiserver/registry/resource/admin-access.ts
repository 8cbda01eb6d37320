// Administrators' access to devices that others use is for namespaces that are labelled for it (KEP-5018; pkg/registry/resource,
// AuthorizedForAdmin and AuthorizedForAdminStatus).
import { type FieldError, forbidden, type Path, root } from '#apimachinery/field';
import type { UnknownObject } from '#apimachinery/meta';
import type { ReadOnlyCluster } from '../../storage/read-only-cluster.ts';
import type { StorageHook } from '../generic/storage-hook.ts';

const group = 'resource.k8s.io';
const label = 'resource.kubernetes.io/admin-access';

interface Request {
  exactly?: { adminAccess?: boolean };
}
interface Claim extends UnknownObject {
  spec?: { devices?: { requests?: Request[] }; spec?: { devices?: { requests?: Request[] } } };
  status?: { allocation?: { devices?: { results?: { adminAccess?: boolean }[] } } };
}

const grantedAt = ({ status }: Claim): number =>
  (status?.allocation?.devices?.results ?? []).findIndex(({ adminAccess }) => adminAccess === true);

/** Where access is asked for that the old object did not have; undefined: nowhere. */
function askedAt(claim: Claim, old: Claim | undefined, subresource: string): Path | undefined {
  if (subresource === 'status') {
    const index = grantedAt(claim);
    if (index < 0 || (old && grantedAt(old) >= 0)) return undefined;
    return root('status', 'allocation', 'devices', 'results').index(index).child('adminAccess');
  }
  // A spec never changes.
  if (old) return undefined;
  const requests = (claim.spec?.devices ?? claim.spec?.spec?.devices)?.requests ?? [];
  const index = requests.findIndex(({ exactly }) => exactly?.adminAccess === true);
  return index < 0 ? undefined : root('spec', 'devices', 'requests').index(index).child('adminAccess');
}

/** The hooks of claims and of their templates. */
export function adminAccessHooks(cluster: ReadOnlyCluster): StorageHook[] {
  const problems: StorageHook['problems'] = (draft, old, { target: { subresource } }): FieldError[] => {
    const at = askedAt(draft as Claim, old as Claim | undefined, subresource);
    const labels = cluster.get('', 'namespaces', '', draft.metadata.namespace ?? '')?.metadata.labels;
    if (!at || labels?.[label] === 'true') return [];
    return [forbidden(at, `admin access to devices requires the \`${label}: true\` label on the containing namespace`)];
  };
  return ['resourceclaims', 'resourceclaimtemplates'].map((resource) => ({ group, resource, problems }));
}
