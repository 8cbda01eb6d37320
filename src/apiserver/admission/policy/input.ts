// What the expressions of admission policies see of a request (k8s.io/apiserver/pkg/admission/plugin/cel, activation and CreateAdmissionRequest).
import type { Namespace } from '#api/core/v1';
import { notFound } from '#apimachinery/errors';
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
import { requestKind, type Sight } from '../sight.ts';
import { isExempt } from '../matching.ts';

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

/** The request as `request`: the version of the rule, and what the client asked for. */
function requestJson({ request, through, kind }: Sight): object {
  const { group, version, resource, subresource, name, namespace, operation, user, dryRun, options } = request;
  const gvr = { group, version, resource };
  return present({
    kind,
    resource: through === 'own' ? gvr : { group: through.group, version: through.version, resource: through.resource },
    subResource: subresource,
    requestKind: requestKind(request),
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

export const objectValue = (object: object | undefined): Value => fromJson(object, celTypes.dyn);

/** What expressions see of the request alone. */
export function requestInput(sight: Sight, source: AuthorizationSource): Omit<Input, 'namespace'> {
  const { request, object, oldObject } = sight;
  const { group, resource, subresource, namespace, name } = request;
  return {
    variables: new Map([
      ['object', objectValue(object)],
      ['oldObject', objectValue(oldObject)],
      ['request', fromJson(requestJson(sight), requestType)],
    ]),
    authorizer: new Map([
      ['authorizer', authorizerValue(source)],
      ['authorizer.requestResource', resourceCheckValue(source, { group, resource, subresource, namespace, name })],
    ]),
  };
}

/** Throws 404 when the request's namespace does not exist. */
export const inputOf = (cluster: ReadOnlyCluster, sight: Sight, source: AuthorizationSource): Input => ({
  ...requestInput(sight, source),
  namespace: fromJson(namespaceOf(cluster, sight.request), namespaceType),
});

/** A copy of the input in which some variables have other values. */
export const withVariables = (input: Input, variables: Iterable<readonly [string, Value]>): Input => ({
  ...input,
  variables: new Map([...input.variables, ...variables]),
});
