// Streams of bytes: bodies of connections that are handed on, and compression on the way.
import { setMaxListeners } from 'node:events';
import { PassThrough, Readable, Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createDeflateRaw, createGunzip, createGzip, createInflateRaw, type Gzip, gzipSync } from 'node:zlib';

export { PassThrough, pipeline, Readable, Transform, Writable };

const fastest = { level: constants.Z_BEST_SPEED };

/** Compresses a small body at once, in this thread. */
export const gzipped = (bytes: Uint8Array): Buffer => gzipSync(bytes, fastest);

/** A compressor whose work is done on other threads. */
export const gzipStream = (): Gzip => createGzip(fastest);

/** Content encodings whose content can be looked into: how they are taken off and put on again. */
export const recodings: Readonly<Record<string, readonly [decode: () => Transform[], encode: () => Transform[]]>> = {
  '': [() => [], () => []],
  gzip: [() => [createGunzip()], () => [createGzip()]],
  deflate: [() => [createInflateRaw()], () => [createDeflateRaw()]],
};

/** Lets any number of parts listen for the end of something, without a warning. */
export const allowListeners = (signal: AbortSignal): void => setMaxListeners(0, signal);
