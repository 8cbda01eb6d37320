// serviceaccounts/token: the TokenRequest API (KEP-1205, pkg/registry/core/serviceaccount/storage/token.go).
import type { TokenRequest } from '#api/authentication/v1';
import type { Node, Pod, Secret, ServiceAccount } from '#api/core/v1';
import { badRequest, conflict, invalidObject, notFound } from '#apimachinery/errors';
import { type FieldError, invalid, root } from '#apimachinery/field';
import { asKind, formatTime, type KubeObject, parseApiVersion } from '#apimachinery/meta';
import type { JwtSigner } from '#pki';
import {
  boundClaims,
  extendedExpirationSeconds,
  warnOnlyExpirationSeconds,
} from '../../../authentication/service-account-claims.ts';
import type { SpecialContext, SpecialRest } from '../../special.ts';

export interface TokenRequestOptions {
  /** `--service-account-issuer`, the first. */
  issuer: string;
  signer: JwtSigner;
  /** `--api-audiences`. */
  apiAudiences: readonly string[];
  /** `--service-account-max-token-expiration` in seconds; 0 means no limit. */
  maxExpirationSeconds?: number;
  /** `--service-account-extend-token-expiration`, default true. */
  extendExpiration?: boolean;
  now(): number;
  uuid(): string;
}

const group = 'authentication.k8s.io';
const kind = { group, kind: 'TokenRequest' };
const minExpirationSeconds = 600;
const defaultExpirationSeconds = 3600;

interface Bound {
  pod?: Pod;
  secret?: Secret;
  node?: { metadata: Node['metadata'] };
}

function requestErrors({ spec }: TokenRequest): FieldError[] {
  const path = root('spec', 'expirationSeconds');
  const seconds = spec?.expirationSeconds ?? defaultExpirationSeconds;
  if (seconds < minExpirationSeconds) return [invalid(path, seconds, 'may not specify a duration less than 10 minutes')];
  return seconds > 2 ** 32 ? [invalid(path, seconds, 'may not specify a duration larger than 2^32 seconds')] : [];
}

function get<T extends KubeObject>({ cluster }: SpecialContext, resource: string, namespace: string, name: string): T {
  if (name === '') throw badRequest('Name parameter required.');
  const found = cluster.get<T>('', resource, namespace, name);
  if (!found) throw notFound({ group: '', resource }, name);
  return found;
}

const groupVersionOf = (text: string): { group: string; version: string } =>
  text.split('/').length > 2 ? { group: '', version: '' } : parseApiVersion(text);

/** What the token is to be bound to, looked up. */
function boundObject(context: SpecialContext, request: TokenRequest): Bound {
  const ref = request.spec?.boundObjectRef;
  if (!ref) return {};
  // A text that is not a valid apiVersion counts as an empty one.
  const { group: of, version } = groupVersionOf(ref.apiVersion ?? '');
  const name = ref.name ?? '';
  const checked = <T extends KubeObject>(object: T): T => {
    if (!ref.uid || ref.uid === object.metadata.uid) return object;
    const why = `the UID in the bound object reference (${ref.uid}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflict({ group: of, resource: ref.kind ?? '' }, name, why);
  };
  if (of === '' && ref.kind === 'Pod') {
    const pod = get<Pod>(context, 'pods', context.target.namespace, name);
    if (pod.spec?.serviceAccountName !== context.target.name) {
      throw badRequest(
        `cannot bind token for serviceaccount "${context.target.name}" to pod running with different serviceaccount name.`,
      );
    }
    const nodeName = pod.spec?.nodeName;
    const node = nodeName ? context.cluster.get<Node>('', 'nodes', '', nodeName) : undefined;
    return { pod: checked(pod), ...(nodeName && { node: node ?? { metadata: { name: nodeName } } }) };
  }
  if (of === '' && ref.kind === 'Node') return { node: checked(get<Node>(context, 'nodes', '', name)) };
  if (of === '' && ref.kind === 'Secret')
    return { secret: checked(get<Secret>(context, 'secrets', context.target.namespace, name)) };
  throw badRequest(`cannot bind token to object of type ${of}/${version}, Kind=${ref.kind ?? ''}`);
}

function checkIdentity(context: SpecialContext, request: TokenRequest, account: ServiceAccount): void {
  const { uid } = request.metadata;
  if (!uid || uid === account.metadata.uid) return;
  throw conflict(
    { group, resource: 'TokenRequest' },
    context.target.name,
    `the UID in the token request (${uid}) does not match the UID of the service account (${account.metadata.uid})`,
  );
}

function checkNames({ target: { name, namespace } }: SpecialContext, { metadata }: TokenRequest): void {
  const refuse = (field: string, value: string, what: string) =>
    invalidObject(kind, name, [invalid(root('metadata', field), value, `must match the service account ${what} if specified`)]);
  if (metadata.name && metadata.name !== name) throw refuse('name', metadata.name, 'name');
  if (metadata.namespace && metadata.namespace !== namespace) throw refuse('namespace', metadata.namespace, 'namespace');
}

function issue(
  options: TokenRequestOptions,
  context: SpecialContext,
  request: TokenRequest,
  account: ServiceAccount,
): TokenRequest {
  const bound = boundObject(context, request);
  const nowMs = options.now();
  const audiences = request.spec?.audiences ?? [];
  let seconds = request.spec?.expirationSeconds ?? defaultExpirationSeconds;
  const most = options.maxExpirationSeconds ?? 0;
  if (most > 0 && seconds > most) {
    context.request.notes.warn(`requested expiration of ${seconds} seconds shortened to ${most} seconds`);
    seconds = most;
  }
  const forServer = audiences.length > 0 && audiences.every((audience) => options.apiAudiences.includes(audience));
  const extended = (options.extendExpiration ?? true) && bound.pod && seconds === warnOnlyExpirationSeconds && forServer;
  const id = options.uuid();
  context.request.notes.audit?.annotate('authentication.kubernetes.io/issued-credential-id', `JTI=${id}`);
  const claims = boundClaims({
    ...bound,
    issuer: options.issuer,
    serviceAccount: account,
    audiences,
    expirationSeconds: extended ? extendedExpirationSeconds : seconds,
    warnAfterSeconds: extended ? seconds : 0,
    nowMs,
    id,
  });
  return {
    ...request,
    spec: { ...request.spec, expirationSeconds: seconds },
    status: { token: options.signer.sign({ ...claims }), expirationTimestamp: formatTime(nowMs + seconds * 1000) },
  };
}

/** Makes the endpoint serviceaccounts/token. */
export const tokenEndpoint = (options: TokenRequestOptions): SpecialRest => ({
  group: '',
  version: 'v1',
  resource: 'serviceaccounts',
  subresource: 'token',
  namespaced: true,
  methods: ['POST'],
  kind: { group, version: 'v1', kind: 'TokenRequest' },
  setDefaults(object) {
    const request = asKind<TokenRequest>(object);
    request.spec = { ...request.spec, expirationSeconds: request.spec?.expirationSeconds ?? defaultExpirationSeconds };
  },
  async handle(context) {
    const request = asKind<TokenRequest>(context.object);
    checkNames(context, request);
    const account = get<ServiceAccount>(context, 'serviceaccounts', context.target.namespace, context.target.name);
    checkIdentity(context, request, account);
    const { name, namespace, uid } = account.metadata;
    const complete: TokenRequest = {
      ...request,
      metadata: { ...request.metadata, name, namespace, uid, creationTimestamp: formatTime(options.now()) },
      spec: {
        ...request.spec,
        audiences: request.spec?.audiences?.length ? request.spec.audiences : [...options.apiAudiences],
        expirationSeconds: request.spec?.expirationSeconds ?? defaultExpirationSeconds,
      },
    };
    const errors = requestErrors(complete);
    if (errors.length > 0) throw invalidObject(kind, '', errors);
    await context.validate();
    return { status: 201, object: issue(options, context, complete, account) };
  },
});
