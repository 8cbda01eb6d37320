// The body of an HTTP request: its media type first, its bytes when they are asked for, once.
import { StatusError, unsupportedMediaType } from '#apimachinery/errors';
import type { WireRequest } from '#wire';
import type { Body } from '../chain/incoming.ts';
import { bodyEncoding, decodeBody, type RawBody, readBytes } from '../endpoints/body.ts';
import { patchText, patchTypes } from '../endpoints/patch-body.ts';
import { deleteOptionsBody } from '../endpoints/write-options.ts';
import type { WriteSettings } from '../registry/generic/types.ts';

const customPatchTypes = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml'];

/** The body of this request. `rest`: waited for between the steps of reading it. `onRead` is called with its length in bytes once it is there. */
export function wireBody(request: WireRequest, rest: WriteSettings['rest'], onRead: (bytes: number) => void): Body {
  let read: Promise<RawBody> | undefined;
  const contentType = request.headers['content-type'];
  const patchType = (contentType ?? '').split(';')[0]?.trim() ?? '';
  const raw = (custom: boolean): Promise<RawBody> => (read ??= readRaw(request, contentType, custom, onRead));
  return {
    async arrive(custom) {
      await raw(custom);
    },
    async decode(target, validation) {
      return decodeBody(await raw(!target.protobuf), target, validation, rest);
    },
    checkPatchType() {
      if (!patchTypes.includes(patchType)) throw routerUnsupported();
    },
    async patch(custom) {
      const type = patchType;
      if (!patchTypes.includes(type)) throw custom ? unsupportedMediaType(customPatchTypes) : routerUnsupported();
      const bytes = await readBytes(request);
      onRead(bytes.length);
      return { type, ...(await patchText(bytes, type, true, rest)) };
    },
    async deleteOptions(schema, custom) {
      const body = await raw(custom);
      return body.bytes.length > 0 ? deleteOptionsBody(body, schema, rest) : undefined;
    },
  };
}

/** What go-restful's router says before any handler runs. */
const routerUnsupported = (): StatusError =>
  new StatusError({ code: 415, reason: 'UnsupportedMediaType', message: '415: Unsupported Media Type', details: {} });

async function readRaw(
  request: WireRequest,
  contentType: string | undefined,
  custom: boolean,
  onRead: (bytes: number) => void,
): Promise<RawBody> {
  const encoding = request.method === 'DELETE' ? deleteEncoding(contentType) : bodyEncoding(contentType, !custom);
  const bytes = await readBytes(request);
  onRead(bytes.length);
  if (bytes.length > 0) bodyEncoding(contentType, !custom);
  return { encoding, bytes };
}

// An empty DELETE body needs no content type; a body of an unknown one is refused once it is seen not to be empty.
function deleteEncoding(contentType: string | undefined): RawBody['encoding'] {
  try {
    return bodyEncoding(contentType, true);
  } catch {
    return 'json';
  }
}
