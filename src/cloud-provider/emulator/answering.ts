// Answers requests to a vendor's API without a socket: they come as they were read from one.
import { dispatcher, faultOf } from '../test-server/dispatch.ts';
import { readBody, Refusal, type VendorAnswer, type VendorApi, type VendorRequest } from '../test-server/request.ts';

export interface RawHead {
  method: string;
  /** With the query, as sent. */
  path: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}
export interface RawRequest extends RawHead {
  body: Buffer;
}

export interface RawAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: string;
}

export interface AnsweringApi {
  /** All that it can be asked for, as `GET /v4/nodebalancers/{id}`. */
  readonly operations: readonly string[];
  /** The answer to one who may not ask; undefined for all others. Nothing else of the request is looked at, nor is its body read. */
  checkAccess(head: RawHead): RawAnswer | undefined;
  /** Rejects with what is no `Refusal`: a defect. */
  answer(request: RawRequest): Promise<RawAnswer>;
  /** A failure in the vendor's words; what is no `Refusal` becomes an internal error. */
  refused(failure: unknown, request: RawHead): RawAnswer;
}

/** By its shape: the vendor's package may have its own copy of the class. */
const isRefusal = (error: unknown): error is Refusal => error instanceof Error && 'status' in error && 'code' in error;

const internal = new Refusal(500, 'internalError', 'An internal error has occurred');

const targetOf = ({ path, headers }: RawHead): string => `http://${String(headers['host'] ?? 'localhost')}${path}`;

/** With the host that the client named, for links in answers. */
function urlOf(request: RawHead): URL {
  const target = targetOf(request);
  if (!URL.canParse(target)) throw new Refusal(400, '', 'the target of the request is no path');
  return new URL(target);
}

const textsOf = (headers: RawHead['headers']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );

function bodyOf(bytes: Buffer, contentType: string | undefined): unknown {
  try {
    return readBody(bytes, contentType);
  } catch {
    throw new Refusal(400, '', 'the request body cannot be read');
  }
}

/** Serves an emulated API by a function of requests, without a connection. */
export function answeringApi(api: VendorApi): AnsweringApi {
  const dispatch = dispatcher(api.routes, api);
  let count = 0;
  const read = (head: RawHead, bytes: Buffer = Buffer.alloc(0)): VendorRequest => {
    const { method, headers } = head;
    count += 1;
    return { method, url: urlOf(head), params: {}, headers: textsOf(headers), bytes, body: undefined, number: count };
  };
  const sent = ({ status, body, headers = {} }: VendorAnswer, request: VendorRequest): RawAnswer => ({
    status: status ?? (body === undefined ? 204 : 200),
    headers: {
      ...(body !== undefined && { 'content-type': typeof body === 'string' ? 'text/plain' : 'application/json; charset=utf-8' }),
      ...api.headers?.(request),
      ...headers,
    },
    body: body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body),
  });
  const refused = (failure: unknown, raw: RawHead): RawAnswer => {
    const { status, code, message, headers } = isRefusal(failure) ? failure : internal;
    const request = read(URL.canParse(targetOf(raw)) ? raw : { ...raw, path: '/', headers: {} });
    const answer = api.refusalAnswer(new Refusal(status, code, message, headers), request);
    return sent({ status, ...answer, headers: { ...headers, ...answer.headers } }, request);
  };
  return {
    operations: Object.keys(api.routes),
    refused,
    checkAccess(head) {
      try {
        const request = read(head);
        try {
          api.enter?.(request);
        } catch (error) {
          throw faultOf(error, request);
        }
        return undefined;
      } catch (error) {
        return refused(error, head);
      }
    },
    async answer(raw) {
      try {
        const request = read(raw, raw.body);
        api.checkBody?.(request);
        const whole = { ...request, body: bodyOf(raw.body, request.headers['content-type']) };
        return sent(await dispatch(whole), whole);
      } catch (error) {
        if (isRefusal(error)) return refused(error, raw);
        throw error;
      }
    },
  };
}
