// A request as a webhook or a policy sees it: in the version that its rule names, with its objects in that version
// (https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#matching-requests-matchpolicy;
// k8s.io/apiserver/pkg/admission, VersionedAttributes).
import { apiVersionOf, type KubeObject, parseApiVersion, type UnknownObject } from '#apimachinery/meta';
import { normalize } from '#apimachinery/schema';
import { assignOwn } from '#utils';
import type { AdmissionRequest, AdmittedType, EquivalentResource } from '../registry/generic/admission.ts';

/** The resource that a rule names a request by. */
export type Through = 'own' | EquivalentResource;

type Seen = KubeObject & Record<string, unknown>;

export interface Sight {
  request: AdmissionRequest;
  through: Through;
  kind: AdmittedType['kind'];
  /** Absent where it is not known what the object is. */
  type: AdmittedType | undefined;
  /** Shared with the request: not to be changed. */
  object: Seen | undefined;
  oldObject: Seen | undefined;
}

/** The kind of the request's object as the client names it: another than the resource's for some subresources. */
export function requestKind({ group, version, kind, type, object }: AdmissionRequest): AdmittedType['kind'] {
  if (type) return type.kind;
  return { ...(object?.apiVersion ? parseApiVersion(object.apiVersion) : { group, version }), kind };
}

/** As the wire shows it: zero values stand where upstream writes them (`status: {}`), though nobody has sent them. */
const written = (type: AdmittedType | undefined, object: Seen): Seen =>
  type === undefined || type.custom ? object : normalize(type.schema, type.typeName, object);

/** An object of the request in the request's version, with its kind. */
function versioned(request: AdmissionRequest, object: Seen | undefined): Seen | undefined {
  if (!object) return undefined;
  const { group, version, kind } = requestKind(request);
  const apiVersion = apiVersionOf(group, version);
  const own = object.apiVersion !== undefined && object.apiVersion !== apiVersion;
  if (own && request.type) return written(request.type, request.type.fromStorage(object as UnknownObject) as Seen);
  return { apiVersion, kind, ...written(request.type, object) };
}

/** The request in the version that the client named. */
function ownSight(request: AdmissionRequest): Sight {
  const object = versioned(request, request.object);
  const oldObject = versioned(request, request.oldObject);
  return { request, through: 'own', kind: requestKind(request), type: request.type, object, oldObject };
}

async function equivalentSight(request: AdmissionRequest, through: EquivalentResource): Promise<Sight> {
  const { type } = through;
  const apiVersion = apiVersionOf(type.kind.group, type.kind.version);
  const shown = async (object: Seen | undefined): Promise<Seen | undefined> =>
    object && { apiVersion, kind: type.kind.kind, ...((await through.from(object as UnknownObject)) as Seen) };
  const [object, oldObject] = await Promise.all([shown(request.object), shown(request.oldObject)]);
  return { request, through, kind: type.kind, type, object, oldObject };
}

/** The sights of one request, each made once for as long as the object stays as it is. */
export class Sights {
  readonly #request: AdmissionRequest;
  readonly #made = new Map<Through, Sight | Promise<Sight>>();

  constructor(request: AdmissionRequest) {
    this.#request = request;
  }

  /** At once for the client's own version. Rejects with `StatusError` where an object cannot be converted. */
  of(through: Through): Sight | Promise<Sight> {
    let made = this.#made.get(through);
    if (!made) {
      made = through === 'own' ? ownSight(this.#request) : equivalentSight(this.#request, through);
      this.#made.set(through, made);
    }
    return made;
  }

  /** The object was changed. */
  forget(): void {
    this.#made.clear();
  }
}

/** The object as admission hands it on, of what was made of a sight's object. Rejects with `StatusError` where it cannot be converted. */
async function admittedForm({ request, through, type }: Sight, made: UnknownObject): Promise<UnknownObject> {
  if (through !== 'own') return through.to(made);
  const { apiVersion } = request.object ?? {};
  return apiVersion === undefined || apiVersion === made.apiVersion || !type ? made : type.toStorage(made);
}

/** The request's object becomes, in place, what was made of a sight's object. */
export async function writeBack(sight: Sight, made: UnknownObject): Promise<void> {
  const { object: target } = sight.request;
  if (!target) return;
  const admitted = await admittedForm(sight, made);
  for (const key of Object.keys(target)) delete target[key];
  assignOwn(target, admitted);
}
