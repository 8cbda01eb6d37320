// What the operations of stored resources share: a request met with the resource it names.
import { isPrint } from '#utils';
import { notFound, StatusError, unsupportedMediaType } from '#apimachinery/errors';
import type { UnknownObject } from '#apimachinery/meta';
import type { BodyTarget, Incoming, Patch } from '../chain/incoming.ts';
import type { Outcome } from '../chain/outcome.ts';
import { parseResourceVersion } from '../registry/generic/list-options.ts';
import type { Decoded, ServedResource, WriteContext, WriteSettings } from '../registry/generic/types.ts';
import type { Target } from '../request/request.ts';
import { warningTexts } from './body.ts';
import { patchTypes } from './patch-body.ts';
import { type WriteOptions, writeOptions } from './write-options.ts';

export interface ResourceCall {
  request: Incoming;
  resource: ServedResource;
  settings: WriteSettings;
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
  { request, resource, settings }: ResourceCall,
  options: { dryRun: boolean; fieldManager: string; asSent: Record<string, unknown> },
): WriteContext {
  const target = request.target as Target;
  return {
    request,
    resource,
    // The namespace of a Namespace is itself, for authorization only.
    target: resource.namespaced || target.namespace === '' ? target : { ...target, namespace: '' },
    dryRun: options.dryRun,
    manager: options.fieldManager || managerFromUserAgent(request.userAgent),
    options: options.asSent,
    settings,
  };
}

const managerBytesMax = 128;

/** The product name of a user agent without what does not print, and without what has no room. */
export function managerFromUserAgent(userAgent: string): string {
  let product = '';
  let left = managerBytesMax;
  for (const char of userAgent.split('/', 1)[0] ?? '') {
    if (!isPrint(char)) continue;
    left -= Buffer.byteLength(char);
    if (left < 0) break;
    product += char;
  }
  return product === '' ? 'unknown' : product;
}

export async function get(call: ResourceCall, version = call.request.options.resourceVersion ?? ''): Promise<Outcome> {
  const { resource, request } = call;
  const { name = '', namespace = '' } = request.target ?? {};
  const { storage } = resource;
  const asked = parseResourceVersion(version, 'other');
  if (asked > 0) await storage.feed.waitFor(asked);
  else if (version === '') await storage.feed.current();
  const stored = storage.read(storage.keyOf(resource.namespaced ? namespace : '', name));
  if (!stored) throw notFound(resource, name);
  return { is: 'stored', status: 200, resource, stored: resource.versions ? await resource.versions.one(stored) : stored };
}

/** The object of a body, after its strict failures became warnings. Throws the reason for which it is refused. */
export function taken({ notes }: Incoming, validation: string, { object, strictErrors, refusal }: Decoded): UnknownObject {
  if (validation === 'Warn') for (const problem of strictErrors.flatMap(warningTexts)) notes.warn(problem);
  if (refusal) throw refusal;
  return object;
}

/**
 * A patch and what is asked with it. The options are judged before the patch is read, and the object that it is for is looked for before an unreadable patch
 * is refused.
 */
export async function patchBody(call: ResourceCall): Promise<{ body: Patch; options: WriteOptions }> {
  const { request, resource } = call;
  const supported = resource.custom ? patchTypes.filter((type) => !type.includes('strategic')) : patchTypes;
  const type = request.body.patchType(resource.custom);
  if (!supported.includes(type)) throw unsupportedMediaType([...supported]);
  await request.body.arrive();
  const options = writeOptions('PatchOptions', request.options, type === 'application/apply-patch+yaml');
  try {
    const body = await request.body.patch(resource.custom);
    request.notes.audit?.requestPatch(() => JSON.stringify(body.value));
    return { body, options };
  } catch (error) {
    const unreadable = error instanceof StatusError && error.status.reason === 'BadRequest';
    if (unreadable && !/^error decoding YAML/.test(error.message)) await get(call, '');
    throw error;
  }
}
