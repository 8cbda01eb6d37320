// The place where a list was cut (k8s.io/apiserver/pkg/storage/continue.go): revision and next key, in upstream's encoding.
import { badRequest } from '#apimachinery/errors';

export interface ContinuePlace {
  /** Absolute key to go on from. */
  start: string;
  /** The revision of the first page; -1: whatever is newest (an inconsistent continuation). */
  revision: number;
}

const version = 'meta.k8s.io/v1';

export const encodeContinue = (lastKey: string, prefix: string, revision: number): string =>
  Buffer.from(JSON.stringify({ v: version, rv: revision, start: `${lastKey.slice(prefix.length)}\u0000` })).toString('base64url');

const bad = (why: string): Error =>
  badRequest(`invalid continue token: ${why.startsWith('continue key') ? why : `continue key is not valid: ${why}`}`);

export function decodeContinue(token: string, prefix: string): ContinuePlace {
  const illegal = /[^A-Za-z0-9_-]/.exec(token);
  if (illegal) throw bad(`illegal base64 data at input byte ${illegal.index}`);
  if (token.length % 4 === 1) throw bad(`illegal base64 data at input byte ${token.length - 1}`);
  let value: unknown;
  const bytes = Buffer.from(token, 'base64url');
  try {
    value = JSON.parse(bytes.toString());
  } catch {
    throw bad(`invalid character ${goChar(bytes[0] ?? 0)} looking for beginning of value`);
  }
  const parsed = fieldsOf(value);
  if (parsed.v !== version) throw bad(`continue key is not valid: server does not recognize this encoded version ${parsed.v}`);
  const revision = parsed.rv;
  if (revision === 0) throw bad('continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)');
  const { start } = parsed;
  if (start === '') throw bad('continue key is not valid: encoded start key empty (version meta.k8s.io/v1)');
  const absolute = start.startsWith('/') ? start : `/${start}`;
  if (cleaned(absolute) !== absolute) throw bad(start);
  return { start: prefix + absolute.slice(1), revision };
}

/** What Go's decoder takes for the fields of a token: null counts as absent, and other types are refused. */
function fieldsOf(value: unknown): { v: string; rv: number; start: string } {
  if (value !== null && (typeof value !== 'object' || Array.isArray(value)))
    throw bad(`json: cannot unmarshal ${jsonName(value)} into Go value of type storage.continueToken`);
  const { v, rv, start } = (value ?? {}) as Record<string, unknown>;
  const refuse = (field: string, given: unknown, type: string): Error =>
    bad(`json: cannot unmarshal ${jsonName(given)} into Go struct field continueToken.${field} of type ${type}`);
  if (typeof (v ?? '') !== 'string') throw refuse('v', v, 'string');
  const revision = rv ?? 0;
  if (typeof revision !== 'number') throw refuse('rv', rv, 'int64');
  if (!Number.isInteger(revision) || Math.abs(revision) >= 2 ** 63) throw refuse('rv', rv, 'int64');
  if (typeof (start ?? '') !== 'string') throw refuse('start', start, 'string');
  return { v: (v ?? '') as string, rv: revision, start: (start ?? '') as string };
}

/** The type of a value in the words of Go's decoder, with the text of a number. */
function jsonName(value: unknown): string {
  if (typeof value === 'number') return `number ${value}`;
  if (typeof value === 'boolean') return 'bool';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** A byte as Go's decoder names it: as the character of that number. */
function goChar(byte: number): string {
  const hex = byte.toString(16).padStart(2, '0');
  if (byte < 0x20 || byte === 0x7f) return `'\\x${hex}'`;
  if ((byte > 0x7f && byte <= 0xa0) || byte === 0xad) return `'\\u00${hex}'`;
  return `'${String.fromCharCode(byte)}'`;
}

/** path.Clean for absolute paths. */
function cleaned(path: string): string {
  const out: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..') out.pop();
    else out.push(part);
  }
  return `/${out.join('/')}`;
}
