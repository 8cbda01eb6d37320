// What is known of one request, growing while it is served, and the events made of it (audit.k8s.io/v1 Event; k8s.io/apiserver/pkg/audit).
import { goEscaped } from '#apimachinery/codec';
import type { Status } from '#apimachinery/errors';
import { formatMicroTime } from '#apimachinery/meta';
import { isDNS1123Subdomain, isQualifiedName } from '#apimachinery/validation';
import { setOwn } from '#utils';
import type { RequestRecord } from '../../request/notes.ts';
import type { Target, UserInfo } from '../../request/request.ts';
import { type Level, records, type Stage, type Verdict } from './policy.ts';

/** JSON as text, which is put into an event as it is. */
export type RawJson = string;

/** An event in the order of its fields; `undefined` ones are left out. */
export interface AuditEvent {
  kind: 'Event';
  apiVersion: 'audit.k8s.io/v1';
  level: Level;
  auditID: string;
  stage: Stage;
  requestURI: string;
  verb: string;
  user: EventUser;
  impersonatedUser: EventUser | undefined;
  authenticationMetadata: { impersonationConstraint: string } | undefined;
  sourceIPs: readonly string[] | undefined;
  userAgent: string | undefined;
  objectRef: ObjectReference | undefined;
  responseStatus: Partial<Status> | undefined;
  requestReceivedTimestamp: string;
  stageTimestamp: string;
  annotations: Readonly<Record<string, string>> | undefined;
}

/** An event with its objects beside it, and its JSON made once. */
export interface RecordedEvent {
  readonly event: AuditEvent;
  readonly requestObject: RawJson | undefined;
  readonly responseObject: RawJson | undefined;
  /** One line, without the line's end. */
  readonly json: string;
}

export interface EventUser {
  username?: string;
  uid?: string;
  groups?: readonly string[];
  extra?: Readonly<Record<string, readonly string[]>>;
}

export interface ObjectReference {
  resource?: string;
  namespace?: string;
  name?: string;
  uid?: string;
  apiGroup?: string;
  apiVersion?: string;
  resourceVersion?: string;
  subresource?: string;
}

/** What is known when a request comes in. */
export interface ReceivedRequest {
  auditId: string;
  uri: string;
  verb: string;
  /** Undefined: nobody was recognised. */
  user: UserInfo | undefined;
  sourceIps: readonly string[];
  userAgent: string;
  target: Target | undefined;
  /** Milliseconds since the epoch, with fractions. */
  receivedMs: number;
}

const userAgentLengthMax = 1024;
const present = (text: string | undefined): string | undefined => text || undefined;

const userOf = (user: UserInfo | undefined): EventUser =>
  user
    ? {
        ...(user.name !== '' && { username: user.name }),
        ...(user.uid && { uid: user.uid }),
        ...(user.groups.length > 0 && { groups: user.groups }),
        ...(user.extra && Object.keys(user.extra).length > 0 && { extra: sorted(user.extra) }),
      }
    : {};

/** As Go writes maps. */
function sorted<T>(map: Readonly<Record<string, T>>): Record<string, T> {
  const out: Record<string, T> = {};
  for (const key of Object.keys(map).sort()) setOwn(out, key, map[key] as NoInfer<T>);
  return out;
}

/** The event's line: objects go in as the text they are. */
export function encodeEvent(event: AuditEvent, requestObject: RawJson | undefined, responseObject: RawJson | undefined): string {
  const { requestReceivedTimestamp, stageTimestamp, annotations, ...head } = event;
  const parts = [JSON.stringify(head).slice(0, -1)];
  if (requestObject !== undefined) parts.push(`"requestObject":${requestObject.trim()}`);
  if (responseObject !== undefined) parts.push(`"responseObject":${responseObject.trim()}`);
  parts.push(JSON.stringify({ requestReceivedTimestamp, stageTimestamp, annotations }).slice(1));
  return goEscaped(parts.join(','));
}

/** Keys of annotations that admission may add: a domain, '/', a name. */
const isAnnotationKey = (key: string): boolean => {
  const [domain = '', name = '', ...more] = key.split('/');
  return more.length === 0 && isDNS1123Subdomain(domain).length === 0 && isQualifiedName(name).length === 0;
};

/** An object without the fields' managers; a list or a table without those of its entries. */
export function withoutManagedFields(json: RawJson): RawJson {
  if (!json.includes('"managedFields"')) return json;
  type Loose = { metadata?: { managedFields?: unknown }; items?: Loose[]; rows?: { object?: Loose }[] };
  const value = JSON.parse(json) as Loose;
  const strip = (one: Loose | undefined): void => void (one?.metadata && delete one.metadata.managedFields);
  strip(value);
  for (const item of value.items ?? []) strip(item);
  for (const row of value.rows ?? []) strip(row.object);
  return JSON.stringify(value);
}

/** One request's record. Not for requests that are recorded at level None. */
export class AuditRecord implements RequestRecord {
  readonly level: Level;
  readonly receivedMs: number;
  readonly #verdict: Verdict;
  readonly #request: ReceivedRequest;
  #reference: ObjectReference | undefined;
  #impersonated: EventUser | undefined;
  #constraint = '';
  #status: Partial<Status> | undefined;
  #requestObject: RawJson | undefined;
  #responseObject: RawJson | undefined;
  #annotations: Record<string, string> | undefined;

  constructor(verdict: Verdict, request: ReceivedRequest) {
    this.level = verdict.level;
    this.receivedMs = request.receivedMs;
    this.#verdict = verdict;
    this.#request = request;
    if (request.target) {
      const { group: apiGroup, version: apiVersion, ...named } = request.target;
      this.#reference = { ...named, apiGroup, apiVersion };
    }
  }

  /** Whether request and response objects are wanted: what would be lost is not made. */
  wants(level: Level): boolean {
    return records(this.level, level);
  }

  omits(stage: Stage): boolean {
    return this.#verdict.omitStages.has(stage);
  }

  get hasStatus(): boolean {
    return this.#status !== undefined;
  }

  /** The first value of a key stays. */
  annotate(key: string, value: string): void {
    this.#annotations ??= {};
    this.#annotations[key] ??= value;
  }

  /** For admission: keys have to have a domain, and some values are only for levels that show objects. */
  annotateAdmission(key: string, value: string, level: Level = 'Metadata'): void {
    if (this.wants(level) && isAnnotationKey(key)) this.annotate(key, value);
  }

  /** Who the user acts as; `constraint` is the verb that allowed it, '' for the plain one. */
  impersonate(user: UserInfo, constraint: string): void {
    this.#impersonated = userOf(user);
    this.#constraint = constraint;
  }

  /** The decoded body. What the URL does not say of the object is taken from it. */
  requestObject(
    json: () => RawJson,
    { namespace, name, uid, resourceVersion }: { namespace?: string; name?: string; uid?: string; resourceVersion?: string } = {},
  ): void {
    const reference = (this.#reference ??= {});
    reference.namespace ||= namespace ?? '';
    reference.name ||= name ?? '';
    reference.uid ||= uid ?? '';
    reference.resourceVersion ||= resourceVersion ?? '';
    if (this.wants('Request')) this.#requestObject = this.#shown(json());
  }

  /** A patch is shown as it came. */
  requestPatch(json: () => RawJson): void {
    if (this.wants('Request')) this.#requestObject = json();
  }

  responseObject(json: () => RawJson): void {
    if (this.wants('RequestResponse')) this.#responseObject = this.#shown(json());
  }

  /** A Status that is the answer. */
  responseStatus({ status, message, reason, details, code }: Partial<Status>): void {
    this.#status = {
      metadata: {},
      ...(status && { status }),
      ...(message && { message }),
      ...(reason && { reason }),
      ...(details && { details }),
      ...(code && { code }),
    } as Partial<Status>;
  }

  responseCode(code: number): void {
    this.#status = { ...(this.#status ?? ({ metadata: {} } as Partial<Status>)), code };
  }

  #shown(json: RawJson): RawJson {
    return this.#verdict.omitManagedFields ? withoutManagedFields(json) : json;
  }

  /** The event of a stage reached at that time. */
  event(stage: Stage, nowMs: number): RecordedEvent {
    const { auditId, uri, verb, user, sourceIps, userAgent } = this.#request;
    const event: AuditEvent = {
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: this.level,
      auditID: auditId,
      stage,
      requestURI: uri,
      verb,
      user: userOf(user),
      impersonatedUser: this.#impersonated,
      authenticationMetadata: this.#constraint === '' ? undefined : { impersonationConstraint: this.#constraint },
      sourceIPs: sourceIps.length > 0 ? sourceIps : undefined,
      userAgent: present(
        userAgent.length > userAgentLengthMax ? `${userAgent.slice(0, userAgentLengthMax)}...TRUNCATED` : userAgent,
      ),
      objectRef: this.#reference && referenceOf(this.#reference),
      responseStatus: this.#status,
      requestReceivedTimestamp: microTime(this.receivedMs),
      stageTimestamp: microTime(stage === 'RequestReceived' ? this.receivedMs : nowMs),
      annotations: this.#annotations && sorted(this.#annotations),
    };
    return recordedEvent(event, this.#requestObject, this.#responseObject);
  }
}

export const recordedEvent = (
  event: AuditEvent,
  requestObject: RawJson | undefined,
  responseObject: RawJson | undefined,
): RecordedEvent => ({ event, requestObject, responseObject, json: encodeEvent(event, requestObject, responseObject) });

/** The clock's fractions of milliseconds are kept. */
function microTime(ms: number): string {
  const micros = String(Math.floor((ms - Math.floor(ms)) * 1000)).padStart(3, '0');
  return formatMicroTime(Math.floor(ms)).replace(/000Z$/, `${micros}Z`);
}

const referenceOf = (reference: ObjectReference): ObjectReference => {
  const { resource, namespace, name, uid, apiGroup, apiVersion, resourceVersion, subresource } = reference;
  return {
    ...(resource && { resource }),
    ...(namespace && { namespace }),
    ...(name && { name }),
    ...(uid && { uid }),
    ...(apiGroup && { apiGroup }),
    ...(apiVersion && { apiVersion }),
    ...(resourceVersion && { resourceVersion }),
    ...(subresource && { subresource }),
  };
};
