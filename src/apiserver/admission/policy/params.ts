// The parameters of a binding (https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/#parameter-resources).
import type { ParamKind, ParamRef } from '#api/admissionregistration/v1';
import { builtinResources } from '#api';
import { fromLabelSelector } from '#apimachinery/labels';
import { type KubeObject, parseApiVersion } from '#apimachinery/meta';
import type { ReadOnlyCluster } from '../../storage/read-only-cluster.ts';

/** A policy or binding that cannot be applied: the failure policy decides. */
export class ConfigurationError extends Error {}

interface ParamResource {
  group: string;
  resource: string;
  namespaced: boolean;
}

interface Definition extends KubeObject {
  spec: { group: string; scope: string; names: { kind: string; plural: string }; versions: { name: string; served: boolean }[] };
}

/** The resource of a kind, built in or custom. Throws `ConfigurationError`. */
export function paramResource(cluster: ReadOnlyCluster, { apiVersion = '', kind = '' }: ParamKind): ParamResource {
  const { group, version } = parseApiVersion(apiVersion);
  const builtin = builtinResources().find(
    (one) => one.subresource === '' && one.group === group && one.version === version && one.kind.kind === kind,
  );
  if (builtin) return builtin;
  const custom = cluster
    .list<Definition>('apiextensions.k8s.io', 'customresourcedefinitions')
    .find(
      ({ spec }) =>
        spec.group === group && spec.names.kind === kind && spec.versions.some((one) => one.name === version && one.served),
    );
  if (!custom) throw new ConfigurationError(`failed to find resource referenced by paramKind: '${apiVersion}, Kind=${kind}'`);
  const { scope, names } = custom.spec;
  return { group, resource: names.plural, namespaced: scope === 'Namespaced' };
}

/** The objects to evaluate with, [undefined] for none at all. Throws `ConfigurationError`. */
export function collectParams(
  cluster: ReadOnlyCluster,
  kind: ParamKind | undefined,
  ref: ParamRef | undefined,
  requestNamespace: string,
): (KubeObject | undefined)[] {
  if (!kind || !ref) return [undefined];
  const { group, resource, namespaced } = paramResource(cluster, kind);
  const namespace = namespaced ? ref.namespace || requestNamespace : '';
  if (namespaced && namespace === '')
    throw new ConfigurationError('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources');
  if (!namespaced && ref.namespace)
    throw new ConfigurationError('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
  const found = select(cluster, group, resource, namespace, ref);
  if (found.length === 0 && ref.parameterNotFoundAction === 'Deny')
    throw new ConfigurationError('no params found for policy binding with `Deny` parameterNotFoundAction');
  return found.map((param) => ({ ...param, apiVersion: kind.apiVersion ?? '', kind: kind.kind ?? '' }));
}

function select(cluster: ReadOnlyCluster, group: string, resource: string, namespace: string, ref: ParamRef): KubeObject[] {
  if (ref.name) {
    const one = cluster.get(group, resource, namespace, ref.name);
    return one ? [one] : [];
  }
  if (!ref.selector) throw new ConfigurationError('one of name or selector must be provided');
  const selector = fromLabelSelector(ref.selector);
  return cluster.list(group, resource, namespace).filter(({ metadata }) => selector.matches(metadata.labels ?? {}));
}
