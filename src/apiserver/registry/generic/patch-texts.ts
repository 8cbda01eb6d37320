// How upstream words a patch that cannot be read (k8s.io/apiserver/pkg/endpoints/handlers/patch.go): with the result as its JSON library writes
// it, or with the map it was read into and the words of runtime.DefaultUnstructuredConverter.
import { type ObjectMeta, parseApiVersion, readApiVersion } from '#apimachinery/meta';
import { type DecodeError, jsonKind } from '#apimachinery/schema';
import { conversionProblem, unversionedText, type WantedKind } from './kind-problems.ts';
import { apiVersionText, type ServedResource } from './types.ts';

/**
 * The result as evanphx/json-patch writes it: an object that the patch reached into has its keys sorted, one that came along whole (from the
 * object before, or as a value of the patch) stays as it was.
 */
export function asLibraryWrites(patched: unknown, current: unknown, body: unknown, sorted = false): unknown {
  const whole = new Set<object>();
  if (sorted) {
    gather(body, whole);
    return rewritten(patched, whole);
  }
  for (const from of [current, body]) gather(from, whole);
  const shown = inGoOrder(patched, current);
  if (shown !== patched) gather(shown.metadata, whole);
  return rewritten(shown, whole);
}

/** Untouched metadata as upstream's encoder orders it: a stored object has its version last. */
function inGoOrder(patched: unknown, current: unknown): { metadata?: object } {
  const { metadata } = (patched ?? {}) as { metadata?: object };
  if (metadata === undefined || metadata !== (current as { metadata?: object }).metadata) return patched as object;
  const order = ['name', 'generateName', 'namespace', 'selfLink', 'uid', 'resourceVersion'];
  const fields = metadata as Record<string, unknown>;
  const first = order.filter((key) => key in fields).map((key) => [key, fields[key]] as const);
  return { ...(patched as object), metadata: { ...Object.fromEntries(first), ...fields } };
}

function gather(value: unknown, into: Set<object>): void {
  if (typeof value !== 'object' || value === null) return;
  into.add(value);
  for (const inner of Object.values(value)) gather(inner, into);
}

function rewritten(value: unknown, whole: ReadonlySet<object>): unknown {
  if (typeof value !== 'object' || value === null || whole.has(value)) return value;
  if (Array.isArray(value)) return value.map((item) => rewritten(item, whole));
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, rewritten(inner, whole)]));
}

const goKinds: Record<string, string> = { array: 'slice', object: 'map', bool: 'bool', string: 'string' };
const numeric = /^u?int\d+$|^float\d+$/;

/**
 * Go converts between numbers, and whole numbers to strings, in principle: such a value is named with both types; any other only with the kind of the wanted one.
 * A type that reads its JSON itself says so in the words of Go's JSON.
 */
export function conversionText({ value, goType, kind, isFraction }: NonNullable<DecodeError['mismatch']>): string {
  if (kind === 'own') return `json: cannot unmarshal ${value} into Go value of type ${goType}`;
  const [jsonKind = '', literal = ''] = value.split(' ');
  const isNumber = jsonKind === 'number';
  const from = isNumber ? (isFraction || /[.eE]/.test(literal) ? 'float64' : 'int64') : (goKinds[jsonKind] ?? value);
  if (kind === 'slice' || kind === 'map') return `cannot restore ${kind} from ${from}`;
  if (kind !== undefined) {
    const converts = isNumber && (numeric.test(kind) || (kind === 'string' && from === 'int64'));
    return converts ? `cannot convert ${from} to ${goType}` : `unrecognized type: ${kind}`;
  }
  return `cannot restore struct from: ${from}`;
}

/** What a value's own reader says, as the converter tells it. */
export const convertedText = (message: string): string => message.replace(/^illegal base64/, 'error decoding from json: $&');

/** What was applied, of this name, cannot be read as the resource's type. */
export function appliedText(resource: ServedResource, { namespace = '', name = '' }: ObjectMeta, error: DecodeError): string {
  const type = `${resource.group}/${resource.version}, Kind=${resource.kind}`;
  const why = error.mismatch ? conversionText(error.mismatch) : convertedText(error.message);
  return `failed to convert new object (${namespace}/${name}; ${type}) to proper version: unable to convert unstructured object to ${type}: ${why}`;
}

/** Why the result cannot be read: it calls itself something else than what the path names, or names itself by what is no text. Of custom resources any name can be read. */
export function nameProblem(
  resource: WantedKind & { version: string; custom?: boolean | undefined },
  patched: object,
  shown: () => string,
): string | undefined {
  const { kind, apiVersion } = patched as { kind?: unknown; apiVersion?: unknown };
  const wrong = Object.entries({ kind, apiVersion }).find(
    ([, name]) => typeof name !== 'string' && name !== undefined && name !== null,
  );
  if (wrong)
    return `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonKind(wrong[1])} into Go struct field .${wrong[0]} of type string`;
  const read = readApiVersion((apiVersion as string | undefined) ?? '');
  if (read === undefined) return `unexpected GroupVersion string: ${String(apiVersion)}`;
  if (resource.custom) return kind ? undefined : `Object 'Kind' is missing in '${shown()}'`;
  const named = { kind: (kind as string | undefined) || resource.kind, apiVersion: read || apiVersionText(resource) };
  if (named.kind === resource.kind && named.apiVersion === apiVersionText(resource)) return undefined;
  const { group, version, schema } = resource;
  if (read === '' && !schema.kind(group, version, named.kind)) return unversionedText(named.kind, group);
  return conversionProblem(resource, { ...named, ...parseApiVersion(named.apiVersion) });
}
