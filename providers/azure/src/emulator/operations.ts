// Changes that Azure carries out in its own time: the answer names a URL that tells how far it is (Azure-AsyncOperation), and a DELETE also one that
// answers 202 until all is done (Location).
import { type Operation, Refusal, type Routes, type VendorAnswer, type VendorRequest } from 'sagong/cloud-provider/test-server';
import type { Resource } from './resource.ts';
import type { Subscription } from './subscription.ts';

const states: Readonly<Record<Operation['state'], string>> = {
  pending: 'InProgress',
  running: 'InProgress',
  done: 'Succeeded',
  failed: 'Failed',
};

/** Azure says «in 10 s» of most, and less of those that take less. */
const laterOf = ({ startedMs, endsMs }: Operation): Record<string, string> => ({
  'retry-after': String(Math.min(10, Math.max(1, Math.ceil((endsMs - startedMs) / 1000)))),
});

const shown = ({ state, error }: Operation): unknown => ({
  status: states[state],
  ...(error && { error: { ...error, details: [] } }),
});

export function operationRoutes(subscription: Subscription): Routes {
  const find = ({ params }: VendorRequest): Operation => {
    const found = subscription.operations.get(params['id'] ?? '');
    if (!found) throw new Refusal(404, 'NotFound', 'The operation was not found.');
    return found;
  };
  const at = '/subscriptions/{subscription}/providers/{namespace}/locations/{location}';
  return {
    [`GET ${at}/operations/{id}`]: (request) => {
      const operation = find(request);
      const isOpen = operation.state === 'pending' || operation.state === 'running';
      return { body: shown(operation), ...(isOpen && { headers: laterOf(operation) }) };
    },
    [`GET ${at}/operationResults/{id}`]: (request) => {
      const operation = find(request);
      if (operation.state === 'failed') return { body: shown(operation) };
      return operation.state === 'done'
        ? { status: 204 }
        : { status: 202, headers: { location: request.url.href, ...laterOf(operation) } };
    },
  };
}

/** Refuses what somebody else has changed, or is changing. */
export function checkPreconditions(subscription: Subscription, { headers }: VendorRequest, id: string): void {
  const there = subscription.get(id);
  const [match, noneMatch] = [headers['if-match'], headers['if-none-match']];
  const failed = new Refusal(412, 'PreconditionFailed', 'Precondition failed.');
  if (match !== undefined && match !== '*' && there?.etag !== match) throw failed;
  if (match !== undefined && !there) throw failed;
  if (noneMatch === '*' && there) throw failed;
  if (subscription.operations.busyWith(id.toLowerCase()))
    throw new Refusal(409, 'AnotherOperationInProgress', `Another operation on this or dependent resource is in progress.`);
}

interface Begin {
  subscription: Subscription;
  request: VendorRequest;
  id: string;
  kind: string;
  location: string;
  /** Done at the end. */
  work(): void;
}

/** The answer to a change that begins an operation. */
export function begin(
  { subscription, request, id, kind, location, work }: Begin,
  body: () => Resource | undefined,
  status: number,
): VendorAnswer {
  const namespace = /\/providers\/([^/]+)\//i.exec(id)?.[1] ?? 'Microsoft.Network';
  const operation = subscription.operations.begin({ kind, target: id.toLowerCase(), work });
  const base = `${request.url.origin}/subscriptions/${subscription.id}/providers/${namespace}/locations/${location}`;
  const query = `?api-version=${request.url.searchParams.get('api-version')}`;
  const headers = {
    'azure-asyncoperation': `${base}/operations/${operation.id}${query}`,
    ...laterOf(operation),
    ...(kind === 'DELETE' && { location: `${base}/operationResults/${operation.id}${query}` }),
  };
  const shownBody = body();
  return { status, headers, ...(shownBody && { body: shownBody }) };
}
