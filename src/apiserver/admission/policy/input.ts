// What the expressions of admission policies see of a request (k8s.io/apiserver/pkg/admission/plugin/cel, activation and CreateAdmissionRequest).
import type { Namespace } from '#api/core/v1';
import { notFound } from '#apimachinery/errors';
import { apiVersionOf, type KubeObject } from '#apimachinery/meta';
import {
  type AuthorizationSource,
  authorizerValue,
  celTypes,
  fromJson,
  namespaceType,
  requestType,
  resourceCheckValue,
  type Value,
} from '#cel';
import type { AdmissionRequest } from '../../registry/generic/admission.ts';
import type { ReadOnlyCluster } from '../../storage/read-only-cluster.ts';
import { isExempt } from '../webhook/rules.ts';

/** What expressions see; the authorizer only where they may ask it. */
export interface Input {
  variables: ReadonlyMap<string, Value>;
  /** `authorizer` and `authorizer.requestResource`. */
  authorizer: ReadonlyMap<string, Value>;
  namespace: Value;
}

/** Questions that policies do not see: a bad policy would lock everybody out (pkg/kubeapiserver/admission/exclusion). */
const questions: Readonly<Record<string, readonly string[]>> = {
  'authentication.k8s.io': ['selfsubjectreviews', 'tokenreviews'],
  'authorization.k8s.io': [
    'localsubjectaccessreviews',
    'selfsubjectaccessreviews',
    'selfsubjectrulesreviews',
    'subjectaccessreviews',
  ],
};

/** Whether no policy sees the request: of what configures them, and of questions that are only answered. */
export const isUnseen = (request: AdmissionRequest): boolean =>
  isExempt(request) || (questions[request.group]?.includes(request.resource) ?? false);

/** JSON without what Go's encoder drops for being empty. */
const present = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''));

/** The kind of the request's object: another than the resource's for some subresources. */
const kindOf = ({ group, version, kind, type }: AdmissionRequest): { group: string; version: string; kind: string } =>
  type?.kind ?? { group, version, kind };

/** The request as `request`. */
function requestJson(request: AdmissionRequest): object {
  const { group, version, resource, subresource, name, namespace, operation, user, dryRun, options } = request;
  const gvk = kindOf(request);
  const gvr = { group, version, resource };
  return present({
    kind: gvk,
    resource: gvr,
    subResource: subresource,
    requestKind: gvk,
    requestResource: gvr,
    requestSubResource: subresource,
    name,
    namespace,
    operation,
    userInfo: present({ username: user.name, uid: user.uid, groups: user.groups, extra: user.extra }),
    dryRun,
    options: Object.keys(options).length > 0 ? options : null,
  });
}

/** The namespace that expressions see; none for a request about a namespace itself. Throws 404. */
function namespaceOf(cluster: ReadOnlyCluster, { group, resource, namespace }: AdmissionRequest): Namespace | undefined {
  if (namespace === '' || (group === '' && resource === 'namespaces')) return undefined;
  const found = cluster.get<Namespace>('', 'namespaces', '', namespace);
  if (!found) throw notFound({ group: '', resource: 'namespaces' }, namespace);
  return found;
}

/** An object of the request in the request's version, with its kind. */
export function versioned<T extends KubeObject>(request: AdmissionRequest, object: T | undefined): T | undefined {
  if (!object) return undefined;
  const { group, version, kind } = kindOf(request);
  const apiVersion = apiVersionOf(group, version);
  const own = object.apiVersion !== undefined && object.apiVersion !== apiVersion;
  return own && request.type ? (request.type.fromStorage(object as never) as unknown as T) : { apiVersion, kind, ...object };
}

export const objectValue = (object: object | undefined): Value => fromJson(object, celTypes.dyn);

/** What expressions see of the request alone. */
export function requestInput(request: AdmissionRequest, source: AuthorizationSource): Omit<Input, 'namespace'> {
  const { group, resource, subresource, namespace, name } = request;
  return {
    variables: new Map([
      ['object', objectValue(versioned(request, request.object))],
      ['oldObject', objectValue(versioned(request, request.oldObject))],
      ['request', fromJson(requestJson(request), requestType)],
    ]),
    authorizer: new Map([
      ['authorizer', authorizerValue(source)],
      ['authorizer.requestResource', resourceCheckValue(source, { group, resource, subresource, namespace, name })],
    ]),
  };
}

/** Throws 404 when the request's namespace does not exist. */
export const inputOf = (cluster: ReadOnlyCluster, request: AdmissionRequest, source: AuthorizationSource): Input => ({
  ...requestInput(request, source),
  namespace: fromJson(namespaceOf(cluster, request), namespaceType),
});

/** The same with other values for some variables. */
export const withVariables = (input: Input, variables: Iterable<readonly [string, Value]>): Input => ({
  ...input,
  variables: new Map([...input.variables, ...variables]),
});
