// Serves endpoints that are not the storage of a kind (`SpecialRest`): reviews, bindings, evictions, tokens, and those that hand a
// connection on (k8s.io/apiserver/pkg/endpoints/handlers, create.go and rest.go ConnectResource).
import { PassThrough, type Writable } from 'node:stream';
import { createFieldManager } from '#apimachinery/managedfields';
import { badRequest } from '#apimachinery/errors';
import { apiVersionOf, formatTime, type UnknownObject } from '#apimachinery/meta';
import type { ResponseHeaders, WireResponse } from '#wire';
import type { AuditRecord } from '../audit/index.ts';
import type { AdmissionRequest, RawExchange, SpecialAnswer, SpecialContext, SpecialRest } from '../contracts.ts';
import { bodyType } from '../registry/generic/admit.ts';
import type { ServerContext } from '../server-context.ts';
import { type BodyTarget, warningTexts } from './body.ts';
import type { Exchange } from './exchange.ts';
import { annotatorOf, managerFromUserAgent } from './resource-request.ts';
import { methodNotAllowed, pathNotFound } from './route-errors.ts';
import { httpBody } from './resource-handler.ts';
import { negotiateSpecial, sendSpecial } from './special-answer.ts';
import { parseWriteOptions } from './write-options.ts';
import { applySchemaDefaults } from '#apimachinery/schema';

export interface SpecialRequest {
  user: SpecialContext['user'];
  method: string;
  namespace: string;
  name: string;
  subpath: string;
  query: URLSearchParams;
  object: UnknownObject | undefined;
  dryRun: boolean;
  signal: AbortSignal;
  options: Record<string, unknown>;
  exchange?: RawExchange;
  warn(message: string): void;
  audit?: AuditRecord | undefined;
}

/** Runs admission and the endpoint; shared by HTTP and the direct transport. */
export async function runSpecial(context: ServerContext, special: SpecialRest, request: SpecialRequest): Promise<SpecialAnswer> {
  const { object, audit } = request;
  const isConnect = special.connectOptions !== undefined;
  const connectOptions = special.connectOptions?.(request.query, request.subpath);
  const type = bodyType(context.schema, special.kind);
  const admitted: AdmissionRequest = {
    operation: isConnect ? 'CONNECT' : 'CREATE',
    user: request.user,
    group: special.group,
    version: special.version,
    resource: special.resource,
    subresource: special.subresource,
    kind: special.kind.kind,
    namespace: request.namespace,
    name: request.name || (object?.metadata?.name ?? ''),
    ...((connectOptions ?? object) && { object: (connectOptions ?? object) as NonNullable<AdmissionRequest['object']> }),
    ...(type && { type }),
    options: request.options,
    dryRun: request.dryRun,
    warn: request.warn,
    annotate: audit && annotatorOf(audit),
  };
  const { admission } = context.executor;
  if (object || isConnect) await admission.admit(admitted);
  if (isConnect) await admission.validate(admitted);
  const subject = isConnect ? object : ((admitted.object as UnknownObject | undefined) ?? object);
  return special.handle({
    user: request.user,
    method: request.method,
    namespace: request.namespace,
    name: request.name,
    subpath: request.subpath,
    query: request.query,
    ...(subject && { object: subject }),
    dryRun: request.dryRun,
    signal: request.signal,
    cluster: context.cluster,
    writer: context.writer,
    validate: async () => {
      await admission.validate(admitted);
    },
    warn: request.warn,
    annotate: audit && ((key, value) => audit.annotate(key, value)),
    ...(request.exchange && { exchange: request.exchange }),
  });
}

/** The type of a special endpoint's body. */
export function specialTarget(context: ServerContext, { kind, alsoAccepts = [] }: SpecialRest): BodyTarget | undefined {
  const type = context.schema.kind(kind.group, kind.version, kind.kind);
  return type && { ...kind, schema: context.schema, typeName: type.name, protobuf: true, alsoAccepts };
}

export async function serveSpecial(context: ServerContext, exchange: Exchange, special: SpecialRest): Promise<void> {
  const { info, request, query } = exchange;
  if (special.namespaced && info.namespace === '' && special.subresource === '')
    throw request.method === 'GET' ? pathNotFound() : methodNotAllowed();
  // Where nothing can be read there are no paths with names.
  if (info.name !== '' && special.subresource === '' && !special.methods.includes('GET')) throw pathNotFound();
  if (!special.methods.includes(request.method)) throw methodNotAllowed();
  const isConnect = special.connectOptions !== undefined;
  const takesBody = !isConnect && (request.method === 'POST' || request.method === 'PUT');
  const negotiated = isConnect ? undefined : negotiateSpecial(exchange, special);
  const target = takesBody ? specialTarget(context, special) : undefined;
  const body = target && httpBody(exchange, { custom: false });
  if (body) await body.raw();
  const options = takesBody ? parseWriteOptions('CreateOptions', query) : undefined;
  const decoded = target && body && options ? await body.decode(target, options.fieldValidation) : undefined;
  if (options?.fieldValidation === 'Warn')
    for (const problem of decoded?.strictErrors.flatMap(warningTexts) ?? []) exchange.warn(problem);
  if (decoded && target) {
    const sent = decoded.object.metadata?.namespace;
    prepareSpecial(decoded.object, target, info.namespace);
    special.setDefaults?.(decoded.object);
    const { object } = decoded;
    exchange.audit?.requestObject(
      () => JSON.stringify({ ...object, metadata: { ...object.metadata, namespace: sent } }),
      object.metadata,
    );
    const manager = options?.fieldManager || managerFromUserAgent(exchange.userAgent);
    decoded.object = recordSpecial(decoded.object, target, special.subresource, manager, exchange.now);
  }
  const answer = await runSpecial(context, special, {
    user: exchange.user,
    method: request.method,
    namespace: info.namespace,
    name: info.name,
    subpath: subpathOf(exchange),
    query,
    object: decoded?.object,
    dryRun: options?.dryRun ?? false,
    signal: request.signal,
    options: options?.asSent ?? {},
    exchange: rawExchange(exchange),
    warn: exchange.warn,
    audit: exchange.audit,
  });
  if (answer === 'handled') return;
  sendSpecial(exchange, special, answer.status, answer.object as UnknownObject, negotiated);
}

export function prepareSpecial(object: UnknownObject, target: BodyTarget, namespace: string): void {
  applySchemaDefaults(target.schema, target.typeName, object);
  object.apiVersion = apiVersionOf(target.group, target.version);
  object.metadata ??= {};
  const { namespace: given } = object.metadata;
  if (namespace !== '' && given && given !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  if (namespace === '') delete object.metadata.namespace;
  else object.metadata.namespace ||= namespace;
}

/** What is only answered, never stored, still tells who set its fields. */
function recordSpecial(
  object: UnknownObject,
  { schema, typeName, group, version }: BodyTarget,
  subresource: string,
  manager: string,
  now: number,
): UnknownObject {
  const apiVersion = apiVersionOf(group, version);
  const writer = { manager, time: formatTime(now), apiVersion, ...(subresource !== '' && { subresource }) };
  const recorded = createFieldManager(schema, typeName).create(object, writer);
  const { kind, apiVersion: named, ...rest } = recorded;
  return { kind, apiVersion: named, ...rest, metadata: { ...recorded.metadata } };
}

function subpathOf({ info }: Exchange): string {
  const rest = info.parts.slice(3);
  const path = rest.length > 0 ? `/${rest.join('/')}` : '';
  return info.path.endsWith('/') && !path.endsWith('/') ? `${path}/` : path;
}

/** The bytes of an exchange, for endpoints that answer themselves. */
function rawExchange({
  request,
  response,
  headers,
  upgrade,
}: Pick<Exchange, 'request' | 'response' | 'headers' | 'upgrade'>): RawExchange {
  return {
    method: request.method,
    target: request.path,
    headers: request.headers,
    body: request.body,
    ...(upgrade && { upgrade }),
    respond(status, given) {
      response.head(status, { ...headers(), ...(given as ResponseHeaders) });
      response.flushHead();
      return writableOf(response);
    },
  };
}

/** A stream into a response, with back-pressure. */
function writableOf(response: WireResponse): Writable {
  const stream = new PassThrough();
  void (async () => {
    for await (const chunk of stream) {
      if (response.destroyed) break;
      if (!response.write(chunk as Buffer)) await response.drain();
    }
    if (!response.destroyed) response.end();
  })().catch(() => response.destroy());
  return stream;
}
