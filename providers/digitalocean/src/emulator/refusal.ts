// Answers of 400 and more, as the reference describes them ("HTTP Statuses"): an id that goes with the status, a message, and a request id.
import { randomUUID } from 'node:crypto';
import { Refusal as VendorRefusal, type VendorRequest } from 'sagong/cloud-provider/test-server';

const ids: Readonly<Record<number, string>> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  409: 'conflict',
  422: 'unprocessable_entity',
  429: 'too_many_requests',
  500: 'server_error',
  503: 'service_unavailable',
};

export class Refusal extends VendorRefusal {
  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(status, '', message, headers);
  }
}

const requestIds = new WeakMap<VendorRequest, string>();

/** The ID of a request, which is the same in the headers and in the body of its answer. */
export function requestIdOf(request: VendorRequest): string {
  const id = requestIds.get(request) ?? randomUUID();
  requestIds.set(request, id);
  return id;
}

export const refusalBody = ({ status, message }: VendorRefusal, request: VendorRequest): Record<string, string> => ({
  id: ids[status] ?? 'example_error',
  message,
  request_id: requestIdOf(request),
});

export const notFound = (): Refusal => new Refusal(404, 'The resource you requested could not be found.');
export const unprocessable = (message: string): Refusal => new Refusal(422, message);
