// What the handlers of stored resources share: the context of a request, its body, and the object it is about.
import { notFound, StatusError, unsupportedMediaType } from '#apimachinery/errors';
import type { AuditRecord } from '../audit/index.ts';
import type { AddAnnotation } from '../contracts.ts';
import { parseResourceVersion } from '../registry/generic/list-options.ts';
import type { AdmissionChain, Randomness, RequestContext, ServedResource } from '../registry/generic/types.ts';
import { type BodyTarget, warningTexts } from './body.ts';
import type { BodySource, Outcome, ResourceCall } from './call.ts';
import { patchTypes } from './patch-body.ts';

export interface Executor {
  admission: AdmissionChain;
  random: Randomness;
  /** Whether pods may hold privileged containers. */
  allowPrivileged: boolean;
}

export const bodyTarget = (resource: ServedResource): BodyTarget => ({
  group: resource.group,
  version: resource.version,
  kind: resource.kind,
  schema: resource.schema,
  typeName: resource.typeName,
  protobuf: !resource.custom,
  ...(resource.read && { read: resource.read }),
});

export function contextOf(
  executor: Executor,
  call: ResourceCall,
  options: { dryRun: boolean; fieldManager: string; asSent: Record<string, unknown> },
): RequestContext {
  const { resource, user, subresource, namespace, name, now, signal, warn, audit } = call;
  return {
    user,
    resource,
    subresource,
    // The namespace of a Namespace is itself, for authorization only.
    namespace: resource.namespaced ? namespace : '',
    name,
    dryRun: options.dryRun,
    manager: options.fieldManager || managerFromUserAgent(call.userAgent),
    now,
    options: options.asSent,
    admission: executor.admission,
    signal,
    warn,
    annotate: audit && annotatorOf(audit),
    random: executor.random,
    allowPrivileged: executor.allowPrivileged,
  };
}

/** How admission adds annotations to a request's record. */
export const annotatorOf =
  (audit: AuditRecord): AddAnnotation =>
  (key, value, level) =>
    audit.annotateAdmission(key, value, level);

const managerLengthMax = 128;

/** The product name of a user agent, cut and stripped of what does not print. */
export function managerFromUserAgent(userAgent: string): string {
  const product = (userAgent.split('/')[0] ?? '').replace(/[^\x20-\x7e]/g, '').slice(0, managerLengthMax);
  return product === '' ? 'unknown' : product;
}

export async function get(call: ResourceCall, query = call.query): Promise<Outcome> {
  const { resource, name } = call;
  const { storage } = resource;
  const text = query.get('resourceVersion') ?? '';
  const asked = parseResourceVersion(text, 'other');
  if (asked > 0) await storage.feed.waitFor(asked);
  else if (text === '') await storage.feed.current();
  const stored = storage.read(storage.keyOf(resource.namespaced ? call.namespace : '', name));
  if (!stored) throw notFound(resource, name);
  return { is: 'stored', status: 200, stored: resource.versions ? await resource.versions.one(stored) : stored };
}

export const warnAll = (call: ResourceCall, validation: string, problems: readonly string[]): void => {
  if (validation === 'Warn') for (const problem of problems.flatMap(warningTexts)) call.warn(problem);
};

/** An object that is not there is missed before its patch is read. */
export async function patchBody(call: ResourceCall): ReturnType<BodySource['patch']> {
  const supported = call.resource.custom ? patchTypes.filter((type) => !type.includes('strategic')) : patchTypes;
  try {
    const body = await call.body.patch(true);
    if (!supported.includes(body.type)) throw unsupportedMediaType([...supported]);
    call.audit?.requestPatch(() => JSON.stringify(body.value));
    return body;
  } catch (error) {
    const unreadable = error instanceof StatusError && error.status.reason === 'BadRequest';
    if (unreadable && !/^error decoding YAML/.test(error.message)) await get(call, new URLSearchParams());
    throw error;
  }
}
