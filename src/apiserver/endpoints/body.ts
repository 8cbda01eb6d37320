// Request bodies (k8s.io/apiserver/pkg/endpoints/handlers): media type, size, text to object, and what is wrong with it in upstream's words.
import { own } from '#utils';
import { goEscaped, openProtobuf, readProtobuf, readYaml, sortedJson, utf8Problem } from '#apimachinery/codec';
import { badRequest, requestEntityTooLarge, StatusError, unsupportedMediaType } from '#apimachinery/errors';
import { apiVersionOf, parseApiVersion, readApiVersion, type UnknownObject } from '#apimachinery/meta';
import {
  decode,
  DecodeError,
  type Duplicates,
  jsonKind,
  type ParsedJson,
  parsingJson,
  strictErrorsMax,
  TooLargeError,
} from '#apimachinery/schema';
import { paced } from '#host';
import type { Steps } from '#utils';
import { BodyTooLargeError, type WireRequest } from '#wire';
import type { BodyTarget, FieldValidation } from '../chain/incoming.ts';
import { requestBodyBytesMax } from '../limits.ts';
import { conversionProblem, isSameKind } from '../registry/generic/kind-problems.ts';
import { keepFieldsReset } from '../registry/generic/metadata.ts';
import type { Decoded, WriteSettings } from '../registry/generic/types.ts';

type Encoding = 'json' | 'yaml' | 'protobuf';

export interface RawBody {
  bytes: Buffer;
  encoding: Encoding;
}

const encodings: Record<string, Encoding> = {
  'application/json': 'json',
  'application/yaml': 'yaml',
  'application/vnd.kubernetes.protobuf': 'protobuf',
};

/** The media type as Go's mime.ParseMediaType reads it: case does not matter, and undefined where parameters are empty (`;;`). */
function mediaTypeOf(contentType: string): string | undefined {
  const [type = '', ...parameters] = contentType.split(';');
  if (parameters.slice(0, -1).some((text) => text.trim() === '')) return undefined;
  return type.trim().toLowerCase();
}

/** Throws 415 for a media type that is not read here. No content type counts as JSON. */
export function bodyEncoding(contentType: string | undefined, protobuf: boolean): Encoding {
  const type = mediaTypeOf(contentType ?? '');
  const encoding = type === '' ? 'json' : type && own(encodings, type);
  if (!encoding || (encoding === 'protobuf' && !protobuf)) {
    const known = Object.keys(encodings);
    throw unsupportedMediaType(encoding === 'protobuf' ? known.filter((name) => !name.endsWith('protobuf')) : known);
  }
  return encoding;
}

export async function readBytes(request: Pick<WireRequest, 'readBody'>): Promise<Buffer> {
  try {
    return await request.readBody(requestBodyBytesMax);
  } catch (error) {
    if (error instanceof BodyTooLargeError) throw requestEntityTooLarge(`limit is ${requestBodyBytesMax}`);
    throw error;
  }
}

export interface ParsedText {
  value: unknown;
  duplicates: Duplicates | undefined;
  /** Failures of strict parsing that have no place in an object (YAML's duplicate keys). */
  strictErrors: string[];
}

/** JSON or YAML text to a value. Rejects with `DecodeError`, and with 413 when the text holds too many values. */
export async function parseText(
  bytes: Buffer,
  encoding: 'json' | 'yaml',
  strict: boolean,
  rest: WriteSettings['rest'],
): Promise<ParsedText> {
  try {
    return await paced(valueOf(bytes, encoding, strict), rest);
  } catch (error) {
    if (error instanceof TooLargeError) throw requestEntityTooLarge(`limit is ${error.limit}`);
    throw error;
  }
}

function* valueOf(bytes: Buffer, encoding: 'json' | 'yaml', strict: boolean): Steps<ParsedText> {
  const text = bytes.toString();
  if (encoding === 'json') {
    const parsed = yield* jsonOf(bytes, text, strict);
    return { value: parsed.value, duplicates: parsed.duplicates, strictErrors: [] };
  }
  const wrong = text.includes(replacement) ? utf8Problem(bytes) : undefined;
  if (wrong !== undefined) throw new DecodeError(`yaml: ${wrong}`);
  const parsed = yield* readYaml(text);
  return {
    value: parsed.value,
    duplicates: undefined,
    strictErrors: strict && parsed.duplicateKeys ? [parsed.duplicateKeys] : [],
  };
}

/** What stands in a text for bytes that are no UTF-8. */
const replacement = '\ufffd';

function* jsonOf(bytes: Buffer, text: string, strict: boolean): Steps<ParsedJson> {
  try {
    return yield* parsingJson(text, { findDuplicates: strict });
  } catch (error) {
    // Go names the byte that it did not expect.
    if (error instanceof DecodeError && text.includes(replacement))
      yield* parsingJson(bytes.toString('latin1'), { isBytes: true });
    throw error;
  }
}

/** The keys that are written twice anywhere in a value, each named once, and no more of them than upstream names. */
export function duplicateFields(value: unknown, duplicates: WeakMap<object, string[]>): string[] {
  const found = new Set<string>();
  const visit = (inner: unknown, path: string): void => {
    if (typeof inner !== 'object' || inner === null || found.size >= strictErrorsMax) return;
    const below = (name: string): string => (path === '' ? name : `${path}.${name}`);
    for (const name of duplicates.get(inner) ?? []) {
      if (found.size < strictErrorsMax) found.add(`duplicate field ${JSON.stringify(below(name))}`);
    }
    if (Array.isArray(inner)) for (const [at, item] of inner.entries()) visit(item, `${path}[${at}]`);
    else for (const [key, item] of Object.entries(inner)) visit(item, below(key));
  };
  visit(value, '');
  return [...found];
}

/** A strict error as warnings: the YAML library lists several in one. */
export const warningTexts = (problem: string): string[] =>
  problem
    .replace(/^yaml: unmarshal errors:\n/, '')
    .split('\n')
    .map((line) => line.trim());

/** A body as the target's type, canonical and private. Rejects with 400. `rest`: waited for between the steps of reading. */
export async function decodeBody(
  raw: RawBody,
  target: BodyTarget,
  validation: FieldValidation,
  rest: WriteSettings['rest'] = () => undefined,
): Promise<Decoded> {
  try {
    return await decodeAs(raw, target, validation, rest);
  } catch (error) {
    const isUnreadable = error instanceof StatusError && error.status.reason === 'BadRequest';
    throw isUnreadable && target.unreadableText !== undefined ? badRequest(target.unreadableText) : error;
  }
}

async function decodeAs(
  raw: RawBody,
  target: BodyTarget,
  validation: FieldValidation,
  rest: WriteSettings['rest'],
): Promise<Decoded> {
  const strict = validation !== 'Ignore';
  if (raw.encoding === 'protobuf') return { object: protobufBody(raw.bytes, target), strictErrors: [] };
  const parsed = await parsedBody(raw, target, strict, rest);
  await rest();
  const named = namesOf(parsed.value, target, raw.bytes);
  if (target.read) checkCustomKind(parsed.value, raw, { target, named, validation });
  const { beyond } = parsed.duplicates ?? {};
  if (target.read && beyond !== undefined)
    throw cannotHandle(named, target, `json: cannot unmarshal number ${beyond} into Go value of type float64`);
  const refusal = versionProblem(named, target);
  let decoded: Decoded;
  try {
    decoded = refusal ? readAsNamed(named, target, parsed, strict) : readAsWanted(target, parsed, strict);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw cannotHandle(named, target, error.message);
  }
  const doubled = target.read && parsed.duplicates ? duplicateFields(parsed.value, parsed.duplicates) : [];
  const strictErrors = [...parsed.strictErrors, ...doubled, ...decoded.strictErrors];
  if (validation === 'Strict' && strictErrors.length > 0) {
    const asRead = target.read ? { ...target, kind: named.kind } : target;
    throw cannotHandle(named, asRead, `strict decoding error: ${strictErrors.join(', ')}`);
  }
  if (refusal) return { object: decoded.object, strictErrors, refusal };
  const object = identified(decoded.object, target);
  keepFieldsReset(object, parsed.value as Partial<UnknownObject>);
  return { object, strictErrors };
}

const readAsWanted = (target: BodyTarget, { value, duplicates }: ParsedText, strict: boolean): Decoded =>
  target.read ? target.read(value, strict) : (decode(target.schema, target.typeName, value, { strict, duplicates }) as Decoded);

/** Reads an object of another version than the wanted one as what it says it is, so that its unknown fields are reported before it is refused. */
function readAsNamed(
  { apiVersion, kind }: Names,
  target: BodyTarget,
  { value, duplicates }: ParsedText,
  strict: boolean,
): Decoded {
  if (target.read) return target.read(value, strict, apiVersion);
  const { group, version } = parseApiVersion(apiVersion);
  const type = target.schema.kind(group, version, kind);
  if (type) return decode(target.schema, type.name, value, { strict, duplicates }) as Decoded;
  return { object: value as UnknownObject, strictErrors: duplicates ? duplicateFields(value, duplicates) : [] };
}

/** A custom resource keeps the kind that it calls itself: the rules of its kind judge that, when all who change it have seen it. */
const identified = (object: UnknownObject, { group, version, kind, read }: BodyTarget): UnknownObject => {
  if (!read) object.kind = kind;
  object.apiVersion = apiVersionOf(group, version);
  object.metadata ??= {};
  return object;
};

async function parsedBody(
  { bytes, encoding }: RawBody,
  target: BodyTarget,
  strict: boolean,
  rest: WriteSettings['rest'],
): Promise<ParsedText> {
  try {
    const parsed = await parseText(bytes, encoding as 'json' | 'yaml', strict, rest);
    checkIsObject(parsed.value);
    return parsed;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    // What the YAML parser cannot read is refused in the parser's own words. YAML that holds no object is refused in the words for JSON.
    const isText = encoding === 'yaml' && !error.message.startsWith('json: ');
    const why = isText ? error.message : `couldn't get version/kind; json parse error: ${error.message}`;
    throw badRequest(`the object provided is unrecognized (must be of type ${target.kind}): ${why} (${summary(bytes)})`);
  }
}

const typeMetaGoType = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/** Before anything else, upstream reads kind and apiVersion: a body that is no object, or that names itself by no texts, fails there. */
export function checkIsObject(value: unknown): void {
  if (value === null) return;
  if (typeof value !== 'object' || Array.isArray(value))
    throw new DecodeError(`json: cannot unmarshal ${jsonKind(value)} into Go value of type ${typeMetaGoType}`);
  checkNameTexts(value as Record<string, unknown>);
}

/** Throws for the first of kind and apiVersion that is not a text; upstream reports that one. */
export function checkNameTexts(value: Record<string, unknown>): void {
  const isWrong = (name: string): boolean => !['string', 'undefined'].includes(typeof value[name]) && value[name] !== null;
  const wrong = ['kind', 'apiVersion'].filter((name) => Object.hasOwn(value, name) && isWrong(name));
  if (wrong.length === 0) return;
  // An object may have very many keys; they are listed only to tell which of the two comes first.
  const [name = ''] = Object.keys(value).filter((key) => wrong.includes(key));
  throw new DecodeError(`json: cannot unmarshal ${jsonKind(value[name])} into Go struct field .${name} of type string`);
}

function summary(bytes: Buffer): string {
  if (bytes.length === 0) return '<empty>';
  const cut = bytes.length > 30 ? ' ...' : '';
  const head = bytes.subarray(0, 30);
  return (bytes[0] === 0x7b ? head.toString() : head.toString('hex')) + cut;
}

interface Names {
  apiVersion: string;
  kind: string;
}

function namesOf(value: unknown, target: BodyTarget, bytes: Buffer): Names {
  const given = typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
  const text = (field: unknown): string => (typeof field === 'string' ? field : '');
  const apiVersion = readApiVersion(text(given['apiVersion']));
  if (apiVersion === undefined) {
    const why = `unexpected GroupVersion string: ${text(given['apiVersion'])}`;
    throw badRequest(`the object provided is unrecognized (must be of type ${target.kind}): ${why} (${summary(bytes)})`);
  }
  // A custom resource has to name its version itself.
  const absent = target.read ? '' : apiVersionOf(target.group, target.version);
  return { apiVersion: apiVersion || absent, kind: text(given['kind']) || target.kind };
}

interface Reading {
  target: BodyTarget;
  named: Names;
  validation: FieldValidation;
}

/** A custom resource has to say what it is. */
function checkCustomKind(value: unknown, { bytes, encoding }: RawBody, { target, named, validation }: Reading): void {
  const { group, version, kind: wanted } = target;
  const { kind } = (value ?? {}) as Partial<UnknownObject>;
  if (typeof kind === 'string' && kind !== '') return;
  const missing = (text: string): string => `Object 'Kind' is missing in '${text}'`;
  const apiVersion = named.apiVersion || apiVersionOf(group, version);
  if (validation === 'Ignore')
    throw cannotHandle(
      { ...named, apiVersion },
      target,
      missing(encoding === 'json' ? bytes.toString() : goEscaped(sortedJson(value))),
    );
  throw badRequest(
    `the object provided is unrecognized (must be of type ${wanted}): ${missing(bytes.toString())} (${summary(bytes)})`,
  );
}

const cannotHandle = ({ apiVersion, kind }: Names, target: BodyTarget, why: string): Error =>
  badRequest(
    `${kind} in version ${JSON.stringify(parseApiVersion(apiVersion).version)} cannot be handled as a ${target.kind}: ${why}`,
  );

/** Why the wanted kind in another version is refused; throws for what is not of the wanted kind at all, but for custom resources, which are asked for their version alone. */
function versionProblem(names: Names, target: BodyTarget): StatusError | undefined {
  const expected = apiVersionOf(target.group, target.version);
  const isAccepted = names.apiVersion === expected || target.alsoAccepts?.includes(names.apiVersion) === true;
  if (isAccepted && (target.read || names.kind === target.kind)) return undefined;
  const { group, version } = parseApiVersion(names.apiVersion);
  const named = { ...names, group, version };
  if (target.read || isSameKind(target, named))
    return badRequest(`the API version in the data (${names.apiVersion}) does not match the expected API version (${expected})`);
  throw cannotHandle(names, target, conversionProblem(target, named));
}

function protobufBody(bytes: Buffer, target: BodyTarget): UnknownObject {
  try {
    const envelope = openProtobuf(bytes);
    const names = {
      apiVersion: envelope.apiVersion || apiVersionOf(target.group, target.version),
      kind: envelope.kind || target.kind,
    };
    const refusal = versionProblem(names, target);
    if (refusal) throw refusal;
    return identified(readProtobuf(target.schema, target.typeName, envelope.raw) as UnknownObject, target);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw badRequest(
      `the object provided is unrecognized (must be of type ${target.kind}): ${error.message} (${summary(bytes)})`,
    );
  }
}
