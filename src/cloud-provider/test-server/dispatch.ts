// From a request to its handler: what a vendor's API answers, whatever brings the requests.
import { Refusal, type VendorAnswer, type VendorRequest } from './request.ts';
import { createRouter, type Routes } from './routing.ts';

const shapeErrors = [TypeError, RangeError, SyntaxError, URIError];

/** What code throws that was given another shape of value than it takes, as a refusal; all else as it is. */
export function refusalOfShape(error: unknown): unknown {
  if (!(error instanceof Error) || !shapeErrors.some((type) => error instanceof type)) return error;
  return new Refusal(400, '', `The request is not of the shape that this operation takes: ${error.message}`);
}

/** Whether a client has said anything but the name of a thing. */
const saysMuch = ({ method, url, bytes }: VendorRequest): boolean =>
  bytes.length > 0 || (method !== 'GET' && method !== 'HEAD') || url.search !== '' || url.pathname.includes('%');

/**
 * Turns an error that was thrown while a request was read into the answer for its sender: a refusal of the request. An error over a request without a
 * body, a query or an escaped path stays as it is, because the sender gave nothing that could be wrong.
 */
export const faultOf = (error: unknown, request: VendorRequest): unknown => (saysMuch(request) ? refusalOfShape(error) : error);

/** Headers are ASCII: what a client's names bring into them beyond that is escaped, as in a URL. */
function writable(answer: VendorAnswer): VendorAnswer {
  const { headers } = answer;
  if (!headers) return answer;
  const escaped = Object.entries(headers).map(([name, value]) => [name, value.replace(/[^\t\x20-\x7e]/gu, encodeURIComponent)]);
  return { ...answer, headers: Object.fromEntries(escaped) as Record<string, string> };
}

/** A function that answers requests. It throws `Refusal` for a path or a method that is not there, as handlers do for what they refuse. */
export function dispatcher(
  routes: Routes,
  { ignoreCase = false }: { ignoreCase?: boolean | undefined } = {},
): (request: VendorRequest) => Promise<VendorAnswer> {
  const find = createRouter(routes, { ignoreCase });
  return async (request) => {
    const found = find(request.method, request.url);
    if ('handler' in found) {
      try {
        return writable(await found.handler({ ...request, params: found.params }));
      } catch (error) {
        throw faultOf(error, request);
      }
    }
    if (found.methods.length > 0) throw new Refusal(405, 'methodNotAllowed', `${request.method} is not allowed here`);
    throw new Refusal(404, 'notFound', `there is no ${request.url.pathname}`);
  };
}
