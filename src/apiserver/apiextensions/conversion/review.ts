// What is asked of a conversion webhook, and whether its answer will do (https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/
// custom-resource-definition-versioning/; k8s.io/apiextensions-apiserver/pkg/apiserver/conversion). Names, uids and all other metadata stay;
// labels and annotations may change.
import { errorText, root } from '#apimachinery/field';
import { parseApiVersion, type UnknownObject } from '#apimachinery/meta';
import { validateAnnotations, validateLabels } from '#apimachinery/validation';
import { deepCopy, goTypeName, quote } from '#utils';

/** The kinds of failures, by the words of the metric's label `failure_type`. */
export type FailureType =
  | 'conversion_webhook_call_failure'
  | 'conversion_webhook_malformed_response_failure'
  | 'conversion_webhook_partial_response_failure'
  | 'conversion_webhook_invalid_converted_object_failure';

export class ConversionFailure extends Error {
  readonly type: FailureType;
  constructor(type: FailureType, message: string, cause?: unknown) {
    super(message, { cause });
    this.type = type;
  }
}

const group = 'apiextensions.k8s.io';
const supported = ['v1', 'v1beta1'];

/** An answer, read by this type. */
export const reviewType = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ConversionReview';

export interface ConversionReview {
  apiVersion?: string;
  kind?: string;
  response?: {
    uid?: string;
    result?: { status?: string; message?: string };
    convertedObjects?: unknown[];
  };
}

export interface ConversionRequest {
  uid: string;
  desiredAPIVersion: string;
  objects: readonly UnknownObject[];
}

/** The first version of the review that both sides know. Throws an Error when there is none. */
export function reviewVersion(versions: readonly string[]): string {
  const version = versions.find((one) => supported.includes(one));
  if (version === undefined) throw new Error('no supported conversion review versions');
  return version;
}

/** The review as it is sent; `texts` are its objects. */
export function reviewText(version: string, { uid, desiredAPIVersion }: ConversionRequest, texts: readonly string[]): string {
  const head = JSON.stringify({ kind: 'ConversionReview', apiVersion: `${group}/${version}` });
  const request = JSON.stringify({ uid, desiredAPIVersion });
  return `${head.slice(0, -1)},"request":${request.slice(0, -1)},"objects":[${texts.join(',')}]}}`;
}

const gvkText = (apiVersion = '', kind = ''): string => {
  const { group: of, version } = parseApiVersion(apiVersion);
  return `${of}/${version}, Kind=${kind}`;
};

/** The beginning of every failure: what was to be converted. */
export const failedText = ([first]: readonly UnknownObject[]): string =>
  `conversion webhook for ${gvkText(first?.apiVersion, first?.kind)}`;

/** The objects of an answer, in the order asked for, with the metadata that no webhook may change. Throws `ConversionFailure`. */
export function convertedObjects(review: ConversionReview, version: string, request: ConversionRequest): UnknownObject[] {
  const { objects, desiredAPIVersion } = request;
  const start = failedText(objects);
  const answers = answersOf(review, version, request, start);
  if (answers.length !== objects.length) {
    const message = `${start} returned ${answers.length} objects, expected ${objects.length}`;
    throw new ConversionFailure('conversion_webhook_partial_response_failure', message);
  }
  const single = objects.length === 1;
  return objects.map((original, at) => {
    const where = single ? '' : ` at index ${at}`;
    const object = single ? 'object' : 'converted object';
    return checked(original, answers[at], desiredAPIVersion, {
      version: `${start} returned invalid ${object} at index ${at}: `,
      object: `${start} returned invalid ${object}${where}: `,
      metadata: `${start} returned invalid metadata${single ? '' : ` in object${where}`}: `,
    });
  });
}

function answersOf(
  { apiVersion, kind, response }: ConversionReview,
  version: string,
  { uid }: ConversionRequest,
  start: string,
): unknown[] {
  const malformed = (why: string): ConversionFailure =>
    new ConversionFailure('conversion_webhook_malformed_response_failure', `${start} failed: ${why}`);
  const expected = `${group}/${version}`;
  // The beta form promised neither its own name nor the uid.
  if (version === 'v1' && (apiVersion !== expected || kind !== 'ConversionReview')) {
    throw malformed(`expected webhook response of ${gvkText(expected, 'ConversionReview')}, got ${gvkText(apiVersion, kind)}`);
  }
  if (!response) throw malformed('no response provided');
  if (version === 'v1' && response.uid !== uid)
    throw malformed(`expected response.uid=${quote(uid)}, got ${quote(response.uid ?? '')}`);
  const { status = '', message = '' } = response.result ?? {};
  if (status !== 'Success') throw malformed(message || `response.result.status was '${status}', not 'Success'`);
  return response.convertedObjects ?? [];
}

interface Starts {
  version: string;
  object: string;
  metadata: string;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const invalid = (message: string): ConversionFailure =>
  new ConversionFailure('conversion_webhook_invalid_converted_object_failure', message);

function checked(original: UnknownObject, answer: unknown, desired: string, starts: Starts): UnknownObject {
  if (!isObject(answer) || typeof answer['kind'] !== 'string' || answer['kind'] === '')
    throw invalid(`${starts.version}Object 'Kind' is missing in '${JSON.stringify(answer ?? null)}'`);
  const { apiVersion = '', kind } = answer as unknown as UnknownObject;
  if (apiVersion !== desired)
    throw invalid(`${starts.version}invalid groupVersion (expected ${desired}, received ${apiVersion})`);
  if (kind !== original.kind)
    throw invalid(`${starts.version}invalid kind (expected ${original.kind ?? ''}, received ${kind ?? ''})`);
  const given = answer['metadata'];
  const metadata = isObject(given) ? given : {};
  for (const [name, key] of [
    ['name', 'name'],
    ['namespace', 'namespace'],
    ['UID', 'uid'],
  ] as const) {
    const [before, after] = [original.metadata[key] ?? '', metadata[key] ?? ''];
    if (before !== after) throw invalid(`${starts.object}must have the same ${name}: ${before} != ${String(after)}`);
  }
  if (given === undefined) throw invalid(`${starts.metadata}missing metadata in converted object`);
  if (!isObject(given)) throw invalid(`${starts.metadata}invalid metadata of type ${goTypeName(given)} in converted object`);
  const kept: Record<string, unknown> = deepCopy(original.metadata) as Record<string, unknown>;
  for (const field of ['labels', 'annotations'] as const) {
    const texts = textsOf(field, metadata[field], original.metadata[field], starts.metadata);
    if (texts) kept[field] = texts;
    else delete kept[field];
  }
  return { ...answer, metadata: kept } as unknown as UnknownObject;
}

function textsOf(
  field: 'labels' | 'annotations',
  value: unknown,
  before: Readonly<Record<string, string>> = {},
  start: string,
): Record<string, string> | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) throw invalid(`${start}invalid metadata.${field} of type ${goTypeName(value)} in converted object`);
  for (const [key, text] of Object.entries(value)) {
    if (typeof text !== 'string')
      throw invalid(`${start}metadata.${field}[${key}] must be a string, but is ${goTypeName(text)} in converted object`);
  }
  const texts = value as Record<string, string>;
  const same =
    Object.keys(texts).length === Object.keys(before).length &&
    Object.entries(texts).every(([key, text]) => before[key] === text);
  if (same) return texts;
  const errors =
    field === 'labels'
      ? validateLabels(texts, root('metadata', 'labels'))
      : validateAnnotations(texts, root('metadata', 'annotation'));
  if (errors.length === 0) return texts;
  const problems = errors.map(errorText);
  throw invalid(start + (problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`));
}
