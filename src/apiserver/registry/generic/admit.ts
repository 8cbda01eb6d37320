// Runs the admission chain over one write: mutating plugins in order, later the validating ones over what will be stored
// (https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/).
import { forbidden } from '#apimachinery/errors';
import { parseApiVersion, type UnknownObject } from '#apimachinery/meta';
import { applySchemaDefaults, type SchemaTable } from '#apimachinery/schema';
import type {
  AdmissionPlugin,
  AdmissionRequest,
  AdmittedType,
  EquivalentResource,
  Operation,
  Reinvocation,
} from './admission.ts';
import { equivalentsOf } from './equivalents.ts';
import { inTurn } from './in-turn.ts';
import type { Cancellation } from '../../request/cancellation.ts';
import type { AddAnnotation } from '../../request/notes.ts';
import type { Request, Target, UserInfo } from '../../request/request.ts';
import type { AdmissionChain, ServedResource, WriteContext, WriteSettings } from './types.ts';

type AdmittedObject = NonNullable<AdmissionRequest['object']>;

export interface AdmissionSubject {
  operation: Operation;
  object?: UnknownObject;
  oldObject?: UnknownObject;
  /** When it is not the resource's own (Scale, Eviction, ...). */
  kind?: string;
  name?: string;
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

/** The objects of a request and what is particular to them. */
interface Admitted {
  operation: Operation;
  kind: string;
  /** The name that admission sees: '' for each object of a collection. */
  name: string;
  type: AdmittedType | undefined;
  object: UnknownObject | undefined;
  oldObject?: UnknownObject | undefined;
  equivalents?: () => readonly EquivalentResource[];
}

const none = (): readonly EquivalentResource[] => [];

type AdmissionContext = Pick<WriteContext, 'request' | 'target' | 'options' | 'dryRun'> & {
  settings: Pick<WriteSettings, 'rest'>;
};

/** What admission sees: the objects, and the request that they belong to. */
export class Admission implements AdmissionRequest {
  readonly request: Request;
  readonly target: Target;
  readonly options: Record<string, unknown>;
  readonly dryRun: boolean;
  readonly operation: Operation;
  readonly kind: string;
  readonly name: string;
  readonly type: AdmittedType | undefined;
  object: AdmittedObject | undefined;
  readonly oldObject: AdmittedObject | undefined;
  reinvocation: Reinvocation | undefined;
  readonly #settings: Pick<WriteSettings, 'rest'>;
  readonly #findEquivalents: () => readonly EquivalentResource[];
  #equivalents: readonly EquivalentResource[] | undefined;

  constructor({ request, target, options, dryRun, settings }: AdmissionContext, admitted: Admitted) {
    this.#settings = settings;
    this.request = request;
    this.target = target;
    this.options = options;
    this.dryRun = dryRun;
    this.operation = admitted.operation;
    this.kind = admitted.kind;
    this.name = admitted.name;
    this.type = admitted.type;
    this.object = admitted.object;
    this.oldObject = admitted.oldObject;
    this.#findEquivalents = admitted.equivalents ?? none;
  }

  get equivalents(): readonly EquivalentResource[] {
    return (this.#equivalents ??= this.#findEquivalents());
  }

  get user(): UserInfo {
    return this.request.user;
  }
  get group(): string {
    return this.target.group;
  }
  get version(): string {
    return this.target.version;
  }
  get resource(): string {
    return this.target.resource;
  }
  get subresource(): string {
    return this.target.subresource;
  }
  get namespace(): string {
    return this.target.namespace;
  }
  get cancellation(): Cancellation {
    return this.request.cancellation;
  }
  get warn(): (message: string) => void {
    return this.request.notes.warn;
  }
  get rest(): () => Promise<void> | undefined {
    return this.#settings.rest;
  }
  get onAway(): (ms: number) => void {
    const { notes } = this.request;
    return (ms) => {
      notes.awayMs += ms;
    };
  }
  get annotate(): AddAnnotation | undefined {
    const { audit } = this.request.notes;
    return audit && ((key, value, level) => audit.annotateAdmission(key, value, level));
  }
}

const optionsKinds: Partial<Record<Operation, string>> = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions' };

/** The options as admission sees them: those of what is done, also where a patch or an apply does it. */
function optionsFor(operation: Operation, options: Record<string, unknown>): Record<string, unknown> {
  const kind = optionsKinds[operation];
  if (kind === undefined || options['kind'] === undefined || options['kind'] === kind) return options;
  const { force: _, ...shared } = options;
  return { ...shared, kind };
}

/** A write on a resource as admission sees it. */
export function admissionOf(context: WriteContext, subject: AdmissionSubject): Admission {
  const { resource } = context;
  const { operation, object, oldObject, kind = resource.kind, name = context.target.name } = subject;
  const type = subjectType(resource, subject);
  const equivalents = (): readonly EquivalentResource[] =>
    equivalentsOf(resource, context.settings.siblings(resource), context.target.subresource, typeOf, type);
  const options = optionsFor(operation, context.options);
  return new Admission({ ...context, options }, { operation, kind, name, type, object, oldObject, equivalents });
}

/** Mutating admission; undefined where no plugin waits. The plugins change `object` in place, or replace it in the request: the answer is what to go on with. */
export function admit(context: WriteContext, request: AdmissionRequest): Promise<void> | undefined {
  if (request.operation === 'CREATE' && request.subresource === '' && context.resource.isClosing?.())
    throw forbidden(context.resource, request.name, 'create not allowed while custom resource definition is terminating');
  return context.settings.admission.admit(request);
}

/** Validating admission; undefined where no plugin waits. `object` must not change any more. */
export const validateAdmission = (context: WriteContext, request: AdmissionRequest): Promise<void> | undefined =>
  context.settings.admission.validate(request);

/** Where a plugin has waited, others come before the next one: what it waited for may have been long work. */
const run = (
  plugins: readonly AdmissionPlugin[],
  phase: 'admit' | 'validate',
  request: AdmissionRequest,
): Promise<void> | undefined =>
  inTurn(plugins, (plugin) =>
    plugin.handles(request.operation) ? plugin[phase]?.(request)?.then(() => request.rest?.()) : undefined,
  );

/** The mutating plugins, and all of them once more where one asked for it. */
function admitTwice(plugins: readonly AdmissionPlugin[], request: AdmissionRequest): Promise<void> | undefined {
  const again = (): Promise<void> | undefined => {
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
