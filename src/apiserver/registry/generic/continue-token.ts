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
  let parsed: { v?: unknown; rv?: unknown; start?: unknown };
  const bytes = Buffer.from(token, 'base64url');
  try {
    parsed = JSON.parse(bytes.toString()) as typeof parsed;
  } catch {
    throw bad(`invalid character ${goChar(bytes[0] ?? 0)} looking for beginning of value`);
  }
  if (parsed.v !== version)
    throw bad(`continue key is not valid: server does not recognize this encoded version ${String(parsed.v ?? '')}`);
  const revision = Number(parsed.rv ?? 0);
  if (revision === 0) throw bad('continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)');
  const start = String(parsed.start ?? '');
  if (start === '') throw bad('continue key is not valid: encoded start key empty (version meta.k8s.io/v1)');
  const absolute = start.startsWith('/') ? start : `/${start}`;
  if (cleaned(absolute) !== absolute) throw bad(start);
  return { start: prefix + absolute.slice(1), revision };
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
