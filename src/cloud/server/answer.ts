// From an HTTP request to its answer.
import { secretsEqual } from '#pki';
import type { Rng } from '#utils';
import { BodyTooLargeError, type ResponseHeaders, type WireRequest, type WireResponse } from '#wire';
import { invalid } from '../api/errors.ts';
import { type ErrorBody, type OperationId, openApiDocument, operations, Refusal } from '../api/index.ts';
import type { Account } from '../core/index.ts';
import { limits } from './limits.ts';
import type { CloudAccount } from './options.ts';
import { auditCall, type Call, perform, type PerformDeps, refusalFor } from './perform.ts';

export interface AnswerDeps extends PerformDeps {
  accounts: readonly CloudAccount[];
  /** What `/healthz` says; undefined: all is well. */
  unhealthy(): string | undefined;
  rng: Rng;
}

const json: ResponseHeaders = Object.freeze({ 'content-type': 'application/json', 'cache-control': 'no-store' });

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

/** Makes the function that answers all requests to the cloud's API. */
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
    const result = await perform(deps, call, {
      method: request.method,
      pathname,
      search,
      account: accountOf(deps.accounts, request.headers.authorization),
      body: () => bodyOf(request),
    });
    if (result === 'cut') {
      status = 0;
      response.destroy();
    } else {
      const operation = operations[call.operation as OperationId];
      status = operation.success;
      response.send(status, headers, 'response' in operation ? JSON.stringify(result.value) : '');
    }
  } catch (error) {
    const refusal = refusalFor(deps, call, request.path, error);
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

function record(deps: AnswerDeps, call: Call, request: WireRequest, path: string, status: number, durationMs: number): void {
  const { method, remoteAddress: sourceAddress } = request;
  auditCall(deps, call, { sourceAddress, method, path, status, durationMs });
}
