// One HTTP request on its way through: identity, permission, limits, then the handler of its path; any failure becomes a Status
// (k8s.io/apiserver/pkg/server/config.go, DefaultBuildHandlerChain).
import { DurationError, parseDurationMs } from '#apimachinery/duration';
import { badRequest, internalError, serverTimeout, StatusError, timeout } from '#apimachinery/errors';
import { parse as parseFieldSelector } from '#apimachinery/fields';
import { isPathSegmentName } from '#apimachinery/validation';
import { UnavailableError } from '#store';
import type { Logger } from '#utils';
import { ClientGoneError, type ResponseHeaders, type WireRequest, type WireResponse, type WireUpgrade } from '#wire';
import { recordDecision } from '../audit/index.ts';
import type { Attributes, CredentialSource, UserInfo } from '../contracts.ts';
import { targetLengthMax, unreachableRetrySeconds } from '../limits.ts';
import type { ServerContext } from '../server-context.ts';
import type { InFlight } from './in-flight.ts';
import { auditTurnedAway, beginAudit, type RequestAudit } from './audited.ts';
import { parseRequest, type RequestInfo } from './request-info.ts';
import { negotiateStatus } from './negotiation.ts';
import { type Answer, sendStatus } from './respond.ts';

export interface Exchange extends Answer {
  request: WireRequest;
  info: RequestInfo;
  query: URLSearchParams;
  user: UserInfo;
  warn(message: string): void;
  accept: string;
  userAgent: string;
  /** Set when the client asked for another protocol. */
  upgrade?: WireUpgrade;
  /** When the request came, on the clock for durations. */
  started: number;
}

export type ExchangeHandler = (exchange: Exchange) => Promise<void> | void;

const longRunning = new Set(['exec', 'attach', 'portforward', 'log', 'proxy']);

const isLongRunning = (info: RequestInfo): boolean =>
  info.isResource && (info.verb === 'watch' || longRunning.has(info.subresource));

const text = (header: string | readonly string[] | undefined): string =>
  typeof header === 'string' ? header : (header?.join(',') ?? '');

/** Text as a header may carry it: its UTF-8 bytes, without control characters. */
const headerText = (text: string): string => Buffer.from(text.replace(/\p{Cc}+/gu, ' '), 'utf8').toString('latin1');

/** Warning headers, agent 299, each text once (k8s.io/apiserver/pkg/warning). */
function warningCollector(): { warn(message: string): void; headers(): readonly string[] } {
  const messages: string[] = [];
  return {
    warn(message) {
      if (!messages.includes(message)) messages.push(message);
    },
    headers: () => messages.map((message) => `299 - "${headerText(message).replace(/["\\]/g, '\\$&')}"`),
  };
}

function startExchange(context: ServerContext, request: WireRequest, response: WireResponse): Exchange {
  const at = request.path.indexOf('?');
  const path = at < 0 ? request.path : request.path.slice(0, at);
  const query = new URLSearchParams(at < 0 ? '' : request.path.slice(at + 1));
  const warnings = warningCollector();
  const auditId = text(request.headers['audit-id']) || context.random.uuid();
  return {
    request,
    response,
    info: parseRequest(request.method, path, query),
    query,
    user: { name: 'system:anonymous', groups: ['system:unauthenticated'] },
    warn: warnings.warn,
    accept: text(request.headers.accept),
    userAgent: text(request.headers['user-agent']),
    acceptsGzip: /\bgzip\b/.test(text(request.headers['accept-encoding'])),
    schema: context.schema,
    now: context.clock.now(),
    started: context.clock.monotonic(),
    headers(): ResponseHeaders {
      const list = warnings.headers();
      return { 'audit-id': auditId, 'cache-control': 'no-cache, private', ...(list.length > 0 && { warning: list }) };
    },
  };
}

/** Node joins the lines of a repeated header; groups and extras may hold commas, so for identity they must stay apart. */
function distinctHeaders({ headers, rawHeaders }: WireRequest): CredentialSource['headers'] {
  const seen = new Set<string>();
  let lists: Record<string, string[]> | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase();
    if (seen.has(name)) lists = { ...lists, [name]: [] };
    seen.add(name);
  }
  if (!lists) return headers;
  for (let i = 0; i < rawHeaders.length; i += 2)
    lists[(rawHeaders[i] as string).toLowerCase()]?.push(rawHeaders[i + 1] as string);
  return { ...headers, ...lists };
}

const credentialsOf = (request: WireRequest): CredentialSource => {
  const at = request.path.indexOf('?');
  const peer = request.peerCertificate;
  return {
    method: request.method,
    path: at < 0 ? request.path : request.path.slice(0, at),
    headers: distinctHeaders(request),
    ...(peer && { peerCertificates: [peer.certificate.raw] }),
  };
};

/** A list or watch of one object, by its name, asks about that object. */
function selectedName({ verb }: RequestInfo, fieldSelector: string | null): string {
  if (!fieldSelector || (verb !== 'list' && verb !== 'watch')) return '';
  try {
    const name = parseFieldSelector(fieldSelector).exactMatch('metadata.name') ?? '';
    return isPathSegmentName(name).length === 0 ? name : '';
  } catch {
    return '';
  }
}

export function attributesOf(info: RequestInfo, user: UserInfo, query: URLSearchParams): Attributes {
  if (!info.isResource) return { user, verb: info.verb, path: info.path };
  const { group, version, resource, subresource, namespace } = info;
  const fieldSelector = query.get('fieldSelector');
  const name = info.name || selectedName(info, fieldSelector);
  const labelSelector = query.get('labelSelector');
  return {
    user,
    verb: info.verb,
    resource: { group, version, resource, subresource, namespace, name },
    ...(fieldSelector && { fieldSelector }),
    ...(labelSelector && { labelSelector }),
  };
}

/** Whatever was thrown, as a failure a client may see. Unexpected ones are logged and say nothing. */
function statusErrorOf(error: unknown, { group, resource, verb }: RequestInfo, logger: Logger): StatusError {
  if (error instanceof StatusError) return error;
  if (error instanceof UnavailableError && resource !== '') {
    logger.warn('the store does not answer', { resource, verb, err: error.message });
    return serverTimeout({ group, resource }, verb, unreachableRetrySeconds);
  }
  logger.error('unexpected error while serving a request', {
    err: error instanceof Error ? (error.stack ?? error.message) : String(error),
  });
  return internalError(error instanceof Error ? error.message : 'unknown error');
}

/** Milliseconds of `timeout=`, at most the server's own bound. Throws 400 for what is no duration. */
function timeoutMsOf(query: URLSearchParams, maxMs: number): number {
  const value = query.get('timeout');
  if (value === null || value === '' || value === '0') return maxMs;
  try {
    const ms = parseDurationMs(value);
    // Zero and negative durations mean the server's bound, as upstream reads them.
    return ms <= 0 ? maxMs : Math.min(ms, maxMs);
  } catch (error) {
    if (!(error instanceof DurationError)) throw error;
    throw badRequest(`invalid timeout specified in the request URL - ${error.message}`);
  }
}

/** Answers 504 when the time is over; what was begun may still happen. The result stops the clock. */
function limitTime(context: ServerContext, exchange: Exchange, timeoutMs: number): () => void {
  const timer = context.clock.setTimer(timeoutMs, () => {
    const { response } = exchange;
    if (response.headSent || response.destroyed) return;
    sendStatus(exchange, timeout('request did not complete within requested timeout - context deadline exceeded'));
  });
  return () => timer.cancel();
}

export async function serveExchange(
  context: ServerContext,
  inFlight: InFlight,
  request: WireRequest,
  response: WireResponse,
  handler: ExchangeHandler,
  upgrade?: WireUpgrade,
): Promise<void> {
  const exchange = startExchange(context, request, response);
  if (upgrade) exchange.upgrade = upgrade;
  const { info } = exchange;
  const long = isLongRunning(info);
  const leave: (() => void)[] = [];
  const way: Way = { long, leave, known: false, admitted: false, audit: undefined };
  try {
    if (request.path.length > targetLengthMax) throw new StatusError({ code: 414, message: 'Request URI too long' });
    const timeoutMs = long ? 0 : timeoutMsOf(exchange.query, context.requestTimeoutMs);
    if (await identify(context, inFlight, exchange, way)) {
      if (!long) leave.push(limitTime(context, exchange, timeoutMs));
      await handler(exchange);
    }
  } catch (error) {
    const turnedAway = way.known ? undefined : context.audit && auditTurnedAway(context.audit, audited(context, exchange, long));
    answerFailure(context, exchange, error, way);
    await turnedAway?.();
  } finally {
    for (const done of leave) done();
    await way.audit?.finish();
    context.observeRequest({
      info: exchange.info,
      method: request.method,
      dryRun: exchange.query.getAll('dryRun').join(','),
      status: response.status,
      seconds: (context.clock.monotonic() - exchange.started) / 1000,
    });
  }
}

/** How far a request has come. */
interface Way {
  readonly long: boolean;
  /** Undone when it is over. */
  readonly leave: (() => void)[];
  /** It is known who asks. */
  known: boolean;
  /** They may do what they ask for. */
  admitted: boolean;
  audit: RequestAudit | undefined;
}

const audited = (context: ServerContext, exchange: Exchange, long: boolean, user?: UserInfo) => {
  const asked = attributesOf(exchange.info, exchange.user, exchange.query);
  const now = (): number => exchange.now + context.clock.monotonic() - exchange.started;
  return { exchange, asked: { ...asked, user }, long, now };
};

/** Who asks, whether there is room, whether they may. False: it is answered. */
async function identify(context: ServerContext, inFlight: InFlight, exchange: Exchange, way: Way): Promise<boolean> {
  const { info, request, query } = exchange;
  const source = credentialsOf(request);
  exchange.user = await context.authenticate(source);
  way.known = true;
  if (context.audit) {
    way.audit = beginAudit(context.audit, audited(context, exchange, way.long, exchange.user));
    if (way.audit && !(await way.audit.received())) return refuseUnrecorded(context, exchange);
  }
  const record = way.audit?.record;
  const asked = attributesOf(info, exchange.user, query);
  const other = await context.impersonate(source, asked, record && ((user, constraint) => record.impersonate(user, constraint)));
  if (other) exchange.user = other;
  if (!way.long) {
    const leave = inFlight.enter(info.verb !== 'get' && info.verb !== 'list', exchange.user);
    way.leave.push(leave);
    request.onClose(leave);
  }
  await context.authorize(other ? { ...asked, user: other } : asked, record && ((decision) => recordDecision(record, decision)));
  way.admitted = true;
  return true;
}

function refuseUnrecorded(context: ServerContext, { request, response, headers }: Exchange): false {
  context.audit?.rejected();
  const text = `Internal Server Error: ${JSON.stringify(request.path)}: failed to store audit event\n`;
  response.send(500, { ...headers(), 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' }, text);
  return false;
}

const turnedAway = new Set([400, 403]);
/** What turns a known user away before the handler forbids guessing at their type, as upstream's responsewriters.Forbidden. */
const noSniff: ResponseHeaders = { 'x-content-type-options': 'nosniff' };

function answerFailure(context: ServerContext, exchange: Exchange, error: unknown, { known, admitted, audit }: Way): void {
  const { response } = exchange;
  if (error instanceof ClientGoneError || response.destroyed) return;
  const failure = statusErrorOf(error, exchange.info, context.logger);
  if (response.headSent) response.destroy();
  else {
    const negotiated = negotiateStatus(exchange.accept, exchange.query, exchange.userAgent);
    sendStatus(exchange, failure, negotiated, !admitted && known && turnedAway.has(failure.status.code ?? 0) ? noSniff : {});
  }
  if (!(error instanceof StatusError) && !(error instanceof UnavailableError)) audit?.panicked(String(error));
}
