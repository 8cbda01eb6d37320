// From a request to its handler: what a vendor's API answers, whatever brings the requests.
import { Refusal, type VendorAnswer, type VendorRequest } from './request.ts';
import { createRouter, type Routes } from './routing.ts';

/** A function that answers requests. It throws `Refusal` for a path or a method that is not there, as handlers do for what they refuse. */
export function dispatcher(
  routes: Routes,
  { ignoreCase = false }: { ignoreCase?: boolean | undefined } = {},
): (request: VendorRequest) => Promise<VendorAnswer> {
  const find = createRouter(routes, { ignoreCase });
  return async (request) => {
    const found = find(request.method, request.url);
    if ('handler' in found) return found.handler({ ...request, params: found.params });
    if (found.methods.length > 0) throw new Refusal(405, 'methodNotAllowed', `${request.method} is not allowed here`);
    throw new Refusal(404, 'notFound', `there is no ${request.url.pathname}`);
  };
}
