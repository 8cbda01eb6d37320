// The answer's body: a stream, or whole within a bound.
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { collectBody } from '../http/body.ts';
import { limits } from '../limits.ts';
import type { ClientResponse } from './options.ts';

export function clientResponse(status: number, headers: IncomingHttpHeaders, body: Readable): ClientResponse {
  // A broken connection is told to whoever reads the body; without a reader it concerns nobody.
  body.on('error', () => {});
  const bytes = (bytesMax = limits.responseBytesMax): Promise<Buffer> =>
    collectBody(body, { announced: headers['content-length'], bytesMax }).catch((error: unknown) => {
      // What is too much is not read to its end.
      body.destroy();
      throw error;
    });
  return { status, headers, body, bytes, text: async (bytesMax) => (await bytes(bytesMax)).toString('utf8') };
}
