// Endpoints that are not the storage of a kind (`SpecialRest`): reviews, bindings, evictions, tokens, and those that hand a connection on
// (k8s.io/apiserver/pkg/endpoints/handlers, create.go and rest.go ConnectResource).
import { createFieldManager } from '#apimachinery/managedfields';
import { badRequest } from '#apimachinery/errors';
import { apiVersionOf, formatTime, type UnknownObject } from '#apimachinery/meta';
import { applySchemaDefaults } from '#apimachinery/schema';
import { paced } from '#host';
import type { BodyTarget, Incoming } from '../chain/incoming.ts';
import type { Outcome } from '../chain/outcome.ts';
import type { SpecialRest } from '../registry/special.ts';
import { Admission, bodyType } from '../registry/generic/admit.ts';
import type { Target } from '../request/request.ts';
import type { ServerContext } from './context.ts';
import { managerFromUserAgent, taken } from './resource-call.ts';
import { methodNotAllowed, pathNotFound } from './route-errors.ts';
import { type WriteOptions, writeOptions } from './write-options.ts';

interface SpecialCall {
  request: Incoming;
  target: Target;
  special: SpecialRest;
}

const isConnect = ({ connectOptions }: SpecialRest): boolean => connectOptions !== undefined;

/** Checks and decodes the request, runs admission, then the endpoint. */
export async function performSpecial(context: ServerContext, request: Incoming, special: SpecialRest): Promise<Outcome> {
  const target = request.target as Target;
  const call = { request, target, special };
  checkMethod(call);
  const connects = isConnect(special);
  const takesBody = !connects && (request.method === 'POST' || request.method === 'PUT');
  if (!connects) request.reply.agree({ special });
  const body = takesBody ? targetOf(context, special) : undefined;
  if (body) {
    request.body.checkType(false);
    await request.body.arrive();
  }
  const options = takesBody ? writeOptions('CreateOptions', request.options) : undefined;
  const object = body && options && (await readObject(context, call, body, options));
  return run(context, call, object, options);
}

function checkMethod({ request: { method }, target, special }: SpecialCall): void {
  const everywhere = special.everywhere && target.name === '' && method === 'GET';
  if (special.namespaced && target.namespace === '' && special.subresource === '' && !everywhere)
    throw method === 'GET' ? pathNotFound() : methodNotAllowed();
  // Where nothing can be read there are no paths with names.
  if (target.name !== '' && special.subresource === '' && !special.methods.includes('GET')) throw pathNotFound();
  if (!special.methods.includes(method)) throw methodNotAllowed();
}

/** The type of the endpoint's body. */
function targetOf(context: ServerContext, { kind, alsoAccepts = [] }: SpecialRest): BodyTarget | undefined {
  const type = context.schema.kind(kind.group, kind.version, kind.kind);
  return type && { ...kind, schema: context.schema, typeName: type.name, protobuf: true, alsoAccepts };
}

async function readObject(
  context: ServerContext,
  { request, target, special }: SpecialCall,
  body: BodyTarget,
  options: WriteOptions,
): Promise<UnknownObject> {
  const rest = context.restOf(request);
  const decoded = await request.body.decode(body, options.fieldValidation);
  await rest();
  const object = taken(request, options.fieldValidation, decoded);
  const sent = object.metadata?.namespace;
  prepare(object, body, target.namespace);
  special.setDefaults?.(object);
  request.notes.audit?.requestObject(
    () => JSON.stringify({ ...object, metadata: { ...object.metadata, namespace: sent } }),
    object.metadata,
  );
  const manager = options.fieldManager || managerFromUserAgent(request.userAgent);
  const writer = {
    manager,
    time: formatTime(request.now),
    apiVersion: apiVersionOf(body.group, body.version),
    ...(special.subresource !== '' && { subresource: special.subresource }),
  };
  // Review responses and the like carry managed fields too, although they are never stored.
  const recorded = await paced(createFieldManager(body.schema, body.typeName).create(object, writer), rest);
  const { kind, apiVersion, ...others } = recorded;
  return { kind, apiVersion, ...others, metadata: { ...recorded.metadata } };
}

function prepare(object: UnknownObject, target: BodyTarget, namespace: string): void {
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

function subpathOf({ segments, path = '' }: Incoming): string {
  const rest = segments.slice(3);
  const subpath = rest.length > 0 ? `/${rest.join('/')}` : '';
  return path.endsWith('/') && !subpath.endsWith('/') ? `${subpath}/` : subpath;
}

/** Admission and the endpoint itself. */
async function run(
  context: ServerContext,
  { request, target, special }: SpecialCall,
  object: UnknownObject | undefined,
  options: WriteOptions | undefined,
): Promise<Outcome> {
  const query = new URLSearchParams(request.query);
  const subpath = subpathOf(request);
  const connectOptions = special.connectOptions?.(query, subpath);
  const dryRun = options?.dryRun ?? false;
  const admitted = new Admission(
    { request, target, options: options?.asSent ?? {}, dryRun, settings: context.settings },
    {
      operation: connectOptions ? 'CONNECT' : 'CREATE',
      kind: special.kind.kind,
      name: target.name || (object?.metadata?.name ?? ''),
      type: bodyType(context.schema, special.kind),
      object: connectOptions ?? object,
    },
  );
  const { admission } = context.settings;
  if (admitted.object) await admission.admit(admitted);
  if (connectOptions) await admission.validate(admitted);
  const accepted = connectOptions ? object : ((admitted.object as UnknownObject | undefined) ?? object);
  const answer = await special.handle({
    ...{ request, target, subpath, query, dryRun, cluster: context.cluster, writer: context.writer },
    ...(accepted && { object: accepted }),
    validate: async () => {
      await admission.validate(admitted);
    },
    connection: request.connection,
  });
  if (answer === 'handled') return { is: 'answered' };
  return { is: 'special', special, status: answer.status, value: answer.object as UnknownObject };
}
