// A bound of answers, which the SDK does not have: one that never ends costs its call, and nothing else.
import { answerBytesMax } from './limits.ts';

/** The bytes of an answer. Rejects, and hangs up, when there are too many of them. */
export async function boundedStream(stream: unknown): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop destroys the stream.
  for await (const chunk of stream as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > answerBytesMax) throw new Error(`the answer is larger than ${answerBytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
