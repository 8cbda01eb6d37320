// The other resources that the objects of a request are served as, for rules with the match policy `Equivalent`
// (https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#matching-requests-matchpolicy;
// k8s.io/apimachinery/pkg/runtime, EquivalentResourceRegistry).
import { apiVersionOf, type UnknownObject } from '#apimachinery/meta';
import type { AdmittedType, EquivalentResource } from './admission.ts';
import type { ServedResource } from './types.ts';

const same = (object: UnknownObject): UnknownObject => object;

const sameKind = (left: AdmittedType['kind'], right: AdmittedType['kind']): boolean =>
  left.group === right.group && left.version === right.version && left.kind === right.kind;

/** How objects of one resource become those of another over the same storage. */
function conversionBetween(own: ServedResource, other: ServedResource): Pick<EquivalentResource, 'from' | 'to'> {
  const { versions } = own;
  if (!versions) return { from: other.fromStorage, to: other.toStorage };
  const into =
    (apiVersion: string) =>
    (object: UnknownObject): Promise<UnknownObject> =>
      versions.convert(object, apiVersion);
  return { from: into(apiVersionOf(other.group, other.version)), to: into(apiVersionOf(own.group, own.version)) };
}

/** The resources of `siblings` that are equivalent for a request on a resource, or on one of its subresources. */
export function equivalentsOf(
  own: ServedResource,
  siblings: readonly ServedResource[],
  subresource: string,
  typeOf: (resource: ServedResource) => AdmittedType,
  subject: AdmittedType | undefined,
): EquivalentResource[] {
  return siblings.flatMap((other) => {
    if (other === own) return [];
    const { group, version, resource } = other;
    const shown = subresource === '' ? typeOf(other).kind : other.subresources.get(subresource)?.kind;
    if (!shown) return [];
    if (sameKind(shown, typeOf(other).kind))
      return [{ group, version, resource, type: typeOf(other), ...conversionBetween(own, other) }];
    // A type of the subresource's own, which no version of the resource changes.
    return subject && sameKind(shown, subject.kind) ? [{ group, version, resource, type: subject, from: same, to: same }] : [];
  });
}
