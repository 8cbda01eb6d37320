// One call of the API, whichever way it came: who asks, for what, with which input, whether it is to fail, and what comes of it.
import type { Clock, Logger } from '#utils';
import { internalError, throttled, unauthorized } from '../api/errors.ts';
import { type OperationId, operations, parseInput, queryObject, Refusal, routeRequest } from '../api/index.ts';
import type { Account } from '../core/index.ts';
import type { Verdict } from '../faults/index.ts';
import { limits } from './limits.ts';
import type { CloudService } from './service.ts';

export interface PerformDeps {
  service: CloudService;
  clock: Clock;
  logger: Logger;
}

export interface ApiRequest {
  method: string;
  /** The path of the URL, without the query. */
  pathname: string;
  search: string;
  account: Account | undefined;
  /** The parsed body; undefined without one. Rejects with a Refusal. */
  body(): Promise<unknown>;
}

/** What is known of a call when it ends. */
export interface Call {
  requestId: string;
  account?: Account;
  operation?: OperationId;
  resourceId?: string;
  errorCode?: string;
}

/** Whether an operation is about the failures that were asked for: those never fail by request. */
const isAboutFaults = (operation: OperationId): boolean =>
  operation === 'getFaults' || operation === 'putFaults' || operation === 'deleteFaults';

/** The result, or that the connection is to be cut. Rejects with what is answered instead. Writes what it learns into `call`. */
export async function perform(
  { service, clock }: PerformDeps,
  call: Call,
  request: ApiRequest,
): Promise<{ value: unknown } | 'cut'> {
  const { account } = request;
  if (!account) throw unauthorized();
  call.account = account;
  const { operationId, parameters } = routeRequest(request.method, request.pathname);
  call.operation = operationId;
  const [, named] = Object.entries(parameters)[0] ?? [];
  if (named !== undefined) call.resourceId = named;
  const verdict: Verdict | undefined = isAboutFaults(operationId) ? undefined : service.gate.judge(operationId);
  if (verdict && verdict.latencyMs > 0) await clock.sleep(Math.min(verdict.latencyMs, limits.latencyMsMax));
  if (verdict?.outage) return 'cut';
  if (verdict?.refuse === 'throttle') throw throttled();
  if (verdict?.refuse === 'error') throw internalError('asked for by faults');
  const operation = operations[operationId];
  const body = 'body' in operation ? await request.body() : undefined;
  const input = parseInput(operation, parameters, queryObject(new URLSearchParams(request.search)), body);
  const value = await service.perform(operationId, input, account, verdict?.breakInMiddle ?? false);
  if (call.resourceId === undefined && typeof value === 'object' && value !== null && 'id' in value)
    call.resourceId = String(value.id);
  return { value };
}

/** What is answered for an error. One that is no refusal is nobody's business but the log's. */
export function refusalFor({ logger }: PerformDeps, { requestId }: Call, path: string, error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  logger.error('call failed', { requestId, path, error });
  return internalError('the cloud failed; its log says why');
}

/** Keeps the call for `GET /v1/events`, and logs it. */
export function auditCall(
  { service, clock, logger }: PerformDeps,
  { requestId, account, operation, resourceId, errorCode }: Call,
  how: { sourceAddress: string; method: string; path: string; status: number; durationMs: number },
): void {
  const about = {
    requestId,
    ...how,
    durationMs: Math.round(how.durationMs * 10) / 10,
    ...(account && { accountId: account.id }),
    ...(operation && { operation }),
    ...(resourceId !== undefined && { resourceId }),
    ...(errorCode !== undefined && { errorCode }),
  };
  service.audit.add({ time: new Date(clock.now()).toISOString(), ...about });
  const log = how.method === 'GET' && how.status < 500 ? logger.debug : logger.info;
  log('call', about);
}
