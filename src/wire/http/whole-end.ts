// The end of a body on HTTP/2, which its last frame tells. Node ends the body of a stream that was reset as if that frame had come.
import type { Http2Stream } from 'node:http2';

/** Makes a body that was cut off end with an error, so that nobody takes what came for all of it. */
export function endWholeOnly(stream: Http2Stream, cutOff: () => Error): void {
  const push = stream.push.bind(stream);
  const destroy = stream.destroy.bind(stream);
  let isWhole = false;
  stream.push = (piece: unknown, encoding?: BufferEncoding): boolean => {
    if (piece === null && !isWhole) {
      if (stream.closed) {
        // Node still works on the stream here.
        process.nextTick(destroy, cutOff());
        return false;
      }
      isWhole = true;
    }
    return push(piece, encoding);
  };
  stream.destroy = (error?: Error) => destroy(error ?? (stream.closed && !isWhole ? cutOff() : undefined));
}
