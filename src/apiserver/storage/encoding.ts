// The bytes of an object, built once (design: "Fast by construction", 2). Stored JSON has no resourceVersion, because the store assigns it;
// the bytes that are served are the stored ones with the version spliced in behind metadata.uid. Field order in the head is fixed so that
// the place of the splice and the start of a list item (without kind and apiVersion) are known.
import { goJson } from '#apimachinery/field';
import type { UnknownObject } from '#apimachinery/meta';
import { setOwn } from '#utils';

const uidMark = Buffer.from('"uid":"');
const metadataMark = Buffer.from('"metadata":{');
const uidLength = 36;

/** What stands first, and what storage does not keep. */
const headOfObject: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);
const headOfMetadata: ReadonlySet<string> = new Set(['name', 'generateName', 'namespace', 'uid', 'resourceVersion', 'selfLink']);

/** Takes over what is not in the head, in its order. A rest pattern would do the same at twice the cost. */
function addOthers(target: Record<string, unknown>, source: Readonly<Record<string, unknown>>, head: ReadonlySet<string>): void {
  for (const key in source) if (!head.has(key)) setOwn(target, key, source[key]);
}

/** Orders the head of an object for `encodeStored`; drops what storage does not keep. The result shares everything below metadata. */
export function canonical(object: UnknownObject): UnknownObject {
  const { name, generateName, namespace, uid } = object.metadata;
  const metadata: UnknownObject['metadata'] = { name: name ?? '' };
  if (generateName) metadata.generateName = generateName;
  if (namespace) metadata.namespace = namespace;
  if (uid) metadata.uid = uid;
  addOthers(metadata as Record<string, unknown>, object.metadata as Record<string, unknown>, headOfMetadata);
  const ordered: UnknownObject = { kind: object.kind ?? '', apiVersion: object.apiVersion ?? '', metadata };
  addOthers(ordered, object, headOfObject);
  return ordered;
}

/** JSON without resourceVersion, written as Go's encoder does: clients compare bytes of ControllerRevisions. `object` must come from `canonical`. */
export const encodeStored = (object: UnknownObject): Buffer => Buffer.from(goJson(object));

/** Where the version goes: behind the uid. -1 when the bytes are not in our form (then decode and encode again). */
export function versionOffset(stored: Uint8Array): number {
  const bytes = asBuffer(stored);
  if (bytes[0] !== 0x7b || bytes.compare(kindMark, 0, kindMark.length, 0, kindMark.length) !== 0) return -1;
  const metadata = bytes.indexOf(metadataMark);
  if (metadata < 0 || metadata > 512) return -1;
  const uid = bytes.indexOf(uidMark, metadata);
  if (uid < 0) return -1;
  const end = uid + uidMark.length + uidLength + 1;
  return bytes[end - 1] === 0x22 ? end : -1;
}
const kindMark = Buffer.from('{"kind":"');

export const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const versionText = (version: number | string): string =>
  `,"resourceVersion":${typeof version === 'number' ? `"${version}"` : goJson(version)}`;

/** The served line: `stored` with `"resourceVersion":"<version>"` inserted at `offset`, and a newline behind it. */
export function spliceVersion(stored: Uint8Array, offset: number, version: number | string): Buffer {
  const insert = versionText(version);
  const length = Buffer.byteLength(insert);
  const out = Buffer.allocUnsafe(stored.length + length + 1);
  out.set(stored.subarray(0, offset), 0);
  out.write(insert, offset);
  out.set(stored.subarray(offset), offset + length);
  out[out.length - 1] = newline;
  return out;
}
const newline = 0x0a;

/** The text of what `spliceVersion` makes, without its newline. */
export const splicedText = (stored: Buffer, offset: number, version: number): string =>
  stored.toString('utf8', 0, offset) + versionText(version) + stored.toString('utf8', offset);

/** A view of much more than it shows, as of a whole message of etcd, is copied: whoever keeps it would keep all of that. */
export function ownBytes(bytes: Uint8Array): Buffer {
  const isPart = bytes.buffer.byteLength > pooledBytes && bytes.byteLength * 2 < bytes.buffer.byteLength;
  return isPart ? Buffer.from(bytes) : asBuffer(bytes);
}
/** Small buffers share memory of this size, which is not worth a copy. It is what the store reads its files into, too. */
const pooledBytes = 64 * 1024;

/** Whether `line` is what `spliceVersion` would make of the others. It makes no copy of them. */
export function isSpliced(line: Buffer, stored: Buffer, offset: number, version: number): boolean {
  const insert = versionText(version);
  const behind = offset + insert.length;
  return (
    line.length === stored.length + insert.length + 1 &&
    line.compare(stored, 0, offset, 0, offset) === 0 &&
    line.toString('latin1', offset, behind) === insert &&
    line.compare(stored, offset, stored.length, behind, line.length - 1) === 0
  );
}

/** The bytes with a newline behind them. */
export const lineOf = (bytes: Buffer): Buffer => Buffer.concat([bytes, newlineBytes]);
const newlineBytes = Buffer.from([newline]);

/** `{"kind":"Pod","apiVersion":"v1",` is this long; a list item is `{` and what follows it. */
export const itemOffset = (bytes: Buffer): number => bytes.indexOf(metadataMark);
