// From an HTTP request to its answer: who asks, for what, with which input, whether it is to fail, and what comes of it.
import { secretsEqual } from '#pki';
import type { Clock, Logger, Rng } from '#utils';
import { BodyTooLargeError, type ResponseHeaders, type WireRequest, type WireResponse } from '#wire';
import { internalError, invalid, throttled, unauthorized } from '../api/errors.ts';
import {
  type ErrorBody,
  type OperationId,
  openApiDocument,
  operations,
  parseInput,
  queryObject,
  Refusal,
  routeRequest,
} from '../api/index.ts';
import type { Account } from '../core/index.ts';
import type { Verdict } from '../faults/index.ts';
import { limits } from './limits.ts';
import type { CloudAccount } from './options.ts';
import type { CloudService } from './service.ts';

export interface AnswerDeps {
  service: CloudService;
  accounts: readonly CloudAccount[];
  /** What `/healthz` says; undefined: all is well. */
  unhealthy(): string | undefined;
  clock: Clock;
  rng: Rng;
  logger: Logger;
}

const json: ResponseHeaders = { 'content-type': 'application/json', 'cache-control': 'no-store' };

/** What is known of a call when it ends. */
interface Call {
  requestId: string;
  account?: Account;
  operation?: OperationId;
  resourceId?: string;
  errorCode?: string;
}

/** Of an operation that asks for failures, which never fails by request. */
const isAboutFaults = (operation: OperationId | undefined): boolean =>
  operation === 'getFaults' || operation === 'putFaults' || operation === 'deleteFaults';

/** All tokens are compared, so that the time tells nothing. */
function accountOf(accounts: readonly CloudAccount[], authorization: string | undefined): Account | undefined {
  const [, given = ''] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
  const matching = accounts.filter(({ token }) => secretsEqual(token, given));
  const [found] = matching;
  return found && { id: found.id, role: found.role };
}

async function bodyOf(request: WireRequest): Promise<unknown> {
  let bytes: Buffer;
  try {
    bytes = await request.readBody(limits.bodyBytesMax);
  } catch (error) {
    if (!(error instanceof BodyTooLargeError)) throw error;
    throw new Refusal(413, 'RequestTooLarge', `a body has at most ${limits.bodyBytesMax} bytes`);
  }
  if (bytes.length === 0) return undefined;
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw invalid(undefined, 'the body is no JSON');
  }
}

/** The handler of all requests. */
export function createAnswerer(deps: AnswerDeps): (request: WireRequest, response: WireResponse) => Promise<void> {
  let openApi: string | undefined;
  return async (request, response) => {
    const [pathname = '', search = ''] = splitOnce(request.path, '?');
    if (request.method === 'GET' && pathname === '/healthz') return answerHealth(deps, response);
    if (request.method === 'GET' && pathname === '/openapi.json') {
      openApi ??= JSON.stringify(openApiDocument());
      return response.send(200, json, openApi);
    }
    await answerCall(deps, request, response, pathname, search);
  };
}

const splitOnce = (text: string, separator: string): string[] => {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
};

function answerHealth({ unhealthy }: AnswerDeps, response: WireResponse): void {
  const why = unhealthy();
  response.send(why === undefined ? 200 : 500, { 'content-type': 'text/plain; charset=utf-8' }, why ?? 'ok');
}

async function answerCall(
  deps: AnswerDeps,
  request: WireRequest,
  response: WireResponse,
  pathname: string,
  search: string,
): Promise<void> {
  const call: Call = { requestId: `req-${deps.rng.uuid()}` };
  const sinceMs = deps.clock.monotonic();
  const headers = { ...json, 'x-request-id': call.requestId };
  let status: number;
  try {
    const result = await perform(deps, call, request, pathname, search);
    if (result === 'cut') {
      status = 0;
      response.destroy();
    } else {
      const { success, response: schema } = operations[call.operation as OperationId] as { success: number; response?: unknown };
      status = success;
      if (schema === undefined) response.send(success, headers, '');
      else response.send(success, headers, JSON.stringify(result.value));
    }
  } catch (error) {
    const refusal = error instanceof Refusal ? error : internalError('the cloud failed; its log says why');
    if (refusal !== error) deps.logger.error('call failed', { requestId: call.requestId, path: request.path, error });
    status = refusal.status;
    call.errorCode = refusal.code;
    response.send(status, { ...headers, ...headersOf(deps, refusal) }, JSON.stringify(bodyOfError(refusal, call.requestId)));
  }
  record(deps, call, request, pathname, status, deps.clock.monotonic() - sinceMs);
}

const bodyOfError = ({ code, message, field }: Refusal, requestId: string): ErrorBody => ({
  error: { code, message, requestId, ...(field !== undefined && { field }) },
});
const headersOf = ({ service }: AnswerDeps, { status }: Refusal): ResponseHeaders => ({
  ...(status === 401 && { 'www-authenticate': 'Bearer' }),
  ...(status === 429 && { 'retry-after': service.gate.faults.retryAfterSeconds }),
});

/** The result, or that the connection is to be cut. Rejects with what is answered instead. */
async function perform(
  deps: AnswerDeps,
  call: Call,
  request: WireRequest,
  pathname: string,
  search: string,
): Promise<{ value: unknown } | 'cut'> {
  const { service, accounts } = deps;
  const account = accountOf(accounts, request.headers.authorization);
  if (!account) throw unauthorized();
  call.account = account;
  const { operationId, parameters } = routeRequest(request.method, pathname);
  call.operation = operationId;
  const [, named] = Object.entries(parameters)[0] ?? [];
  if (named !== undefined) call.resourceId = named;
  const verdict: Verdict | undefined = isAboutFaults(operationId) ? undefined : service.gate.judge(operationId);
  if (verdict) await deps.clock.sleep(Math.min(verdict.latencyMs, limits.latencyMsMax));
  if (verdict?.outage) return 'cut';
  if (verdict?.refuse === 'throttle') throw throttled();
  if (verdict?.refuse === 'error') throw internalError('asked for by faults');
  const operation = operations[operationId];
  const body = 'body' in operation ? await bodyOf(request) : undefined;
  const input = parseInput(operation, parameters, queryObject(new URLSearchParams(search)), body);
  const value = await service.perform(operationId, input, account, verdict?.breakInMiddle ?? false);
  if (call.resourceId === undefined && typeof value === 'object' && value !== null && 'id' in value)
    call.resourceId = String(value.id);
  return { value };
}

function record(deps: AnswerDeps, call: Call, request: WireRequest, pathname: string, status: number, durationMs: number): void {
  const { requestId, account, operation, resourceId, errorCode } = call;
  const rounded = Math.round(durationMs * 10) / 10;
  const about = {
    requestId,
    sourceAddress: request.remoteAddress,
    method: request.method,
    path: pathname,
    status,
    durationMs: rounded,
    ...(account && { accountId: account.id }),
    ...(operation && { operation }),
    ...(resourceId !== undefined && { resourceId }),
    ...(errorCode !== undefined && { errorCode }),
  };
  deps.service.audit.add({ time: new Date(deps.clock.now()).toISOString(), ...about });
  const log = request.method === 'GET' && status < 500 ? deps.logger.debug : deps.logger.info;
  log('call', about);
}
