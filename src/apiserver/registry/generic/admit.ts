// Runs the admission chain over one write: mutating plugins in order, later the validating ones over what will be stored
// (https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/).
import { type KubeObject, parseApiVersion, type UnknownObject } from '#apimachinery/meta';
import { applySchemaDefaults, type SchemaTable } from '#apimachinery/schema';
import type { AdmissionPlugin, AdmissionRequest, AdmittedType, Operation } from '../../contracts.ts';
import type { AdmissionChain, RequestContext, ServedResource } from './types.ts';

type AdmittedObject = NonNullable<AdmissionRequest['object']>;

export interface AdmissionSubject {
  operation: Operation;
  object?: KubeObject;
  oldObject?: KubeObject;
  /** When it is not the resource's own (Scale, Eviction, ...). */
  kind?: string;
  name?: string;
  group?: string;
  version?: string;
}

const knownTypes = new WeakMap<ServedResource, AdmittedType>();

/** What the resource's objects are. */
function typeOf(resource: ServedResource): AdmittedType {
  let type = knownTypes.get(resource);
  if (type) return type;
  const { group, version, kind } = resource;
  type = { ...resource, kind: { group, version, kind } };
  knownTypes.set(resource, type);
  return type;
}

/** A type that is no resource of its own; undefined where the table does not have it. */
export function bodyType(schema: SchemaTable, kind: AdmittedType['kind']): AdmittedType | undefined {
  const typeName = schema.kind(kind.group, kind.version, kind.kind)?.name;
  if (typeName === undefined) return undefined;
  const setDefaults = (object: UnknownObject): void => applySchemaDefaults(schema, typeName, object);
  const same = (object: UnknownObject): UnknownObject => object;
  return { kind, schema, typeName, custom: false, setDefaults, toStorage: same, fromStorage: same };
}

/** The type of what the request carries: the resource's own kind, or that of a subresource. */
function subjectType(resource: ServedResource, { kind, object }: AdmissionSubject): AdmittedType | undefined {
  if (kind === undefined) return typeOf(resource);
  return bodyType(resource.schema, { ...parseApiVersion(object?.apiVersion ?? ''), kind });
}

export function admissionRequest(context: RequestContext, subject: AdmissionSubject): AdmissionRequest {
  const { resource } = context;
  const type = subjectType(resource, subject);
  return {
    operation: subject.operation,
    user: context.user,
    group: resource.group,
    version: resource.version,
    resource: resource.resource,
    subresource: context.subresource,
    kind: subject.kind ?? resource.kind,
    namespace: context.namespace,
    name: subject.name ?? context.name,
    ...(subject.object && { object: subject.object as AdmittedObject }),
    ...(subject.oldObject && { oldObject: subject.oldObject as AdmittedObject }),
    ...(subject.object && subject.kind === undefined && { setDefaults: resource.setDefaults }),
    ...(type && { type }),
    options: context.options,
    dryRun: context.dryRun,
    warn: context.warn,
    annotate: context.annotate,
  };
}

/** Mutating admission. The plugins change `object` in place, or replace it in the request: the answer is what to go on with. */
export async function admit(context: RequestContext, request: AdmissionRequest): Promise<void> {
  const pending = context.admission.admit(request);
  if (pending !== undefined) await pending;
}

/** Validating admission; `object` must not change any more. */
export async function validateAdmission(context: RequestContext, request: AdmissionRequest): Promise<void> {
  const pending = context.admission.validate(request);
  if (pending !== undefined) await pending;
}

type Phase = 'admit' | 'validate';

async function runFrom(
  pending: Promise<void>,
  plugins: readonly AdmissionPlugin[],
  next: number,
  phase: Phase,
  request: AdmissionRequest,
): Promise<void> {
  await pending;
  for (let at = next; at < plugins.length; at++) {
    const plugin = plugins[at] as AdmissionPlugin;
    if (plugin.handles(request.operation)) await plugin[phase]?.(request);
  }
}

function run(plugins: readonly AdmissionPlugin[], phase: Phase, request: AdmissionRequest): void | Promise<void> {
  for (let at = 0; at < plugins.length; at++) {
    const plugin = plugins[at] as AdmissionPlugin;
    const pending = plugin.handles(request.operation) ? plugin[phase]?.(request) : undefined;
    if (pending) return runFrom(pending, plugins, at + 1, phase, request);
  }
}

/** The mutating plugins, and all of them once more where one asked for it. */
function admitTwice(plugins: readonly AdmissionPlugin[], request: AdmissionRequest): void | Promise<void> {
  const again = (): void | Promise<void> => {
    const { reinvocation } = request;
    if (!reinvocation?.needed) return;
    reinvocation.running = true;
    return run(plugins, 'admit', request);
  };
  const pending = run(plugins, 'admit', request);
  return pending ? pending.then(again) : again();
}

/** Plugins as one chain, in the order given. Stays synchronous where no plugin waits. */
export const chainOf = (plugins: readonly AdmissionPlugin[]): AdmissionChain => {
  const admitting = plugins.filter((plugin) => plugin.admit !== undefined);
  const validating = plugins.filter((plugin) => plugin.validate !== undefined);
  return { admit: (request) => admitTwice(admitting, request), validate: (request) => run(validating, 'validate', request) };
};
