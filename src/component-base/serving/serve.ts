// A component's own HTTPS endpoints (k8s.io/controller-manager app/serve.go, cmd/kube-scheduler newEndpointsHandler): health, metrics,
// configuration. Served also while another process leads.
import { StatusError } from '#apimachinery/errors';
import { type Clock, type Logger, quote } from '#utils';
import { distinctHeaders, serve, type WireRequest, type WireResponse, type WireServer } from '#wire';
import { type HealthCheck, type HealthEndpoint, routeHealth, sliMetrics } from '../health/index.ts';
import type { Metrics } from '../metrics/index.ts';
import type { Authorities } from './caller.ts';
import { DelegatedAuth, type DelegatedAuthOptions, type ReviewClient } from './delegated-auth.ts';
import { lookupRefreshMs } from './limits.ts';
import { lookUpAuthorities } from './lookup.ts';
import { type FlagTexts, routeZpage } from '../zpages/index.ts';
import type { SecureServingOptions } from './options.ts';

export interface ComponentServerOptions {
  component: string;
  serving: SecureServingOptions;
  auth: DelegatedAuthOptions;
  /** Asked at each request: the checks of each health endpoint that there is. */
  health(): Partial<Record<HealthEndpoint, readonly HealthCheck[]>>;
  metrics: Metrics;
  /** `--profiling`: PUT /debug/flags/v changes the verbosity of the log. */
  setVerbosity?: ((level: number) => void) | undefined;
  /** What /flagz shows. */
  flags: FlagTexts;
  /** Shown by /configz under this name. */
  configz: { name: string; configuration: object };
  /** What /debug/decisions answers to a query: what was decided about an object, and why. Absent: there is no such path. */
  decisions?(query: URLSearchParams): object;
}

export interface ComponentServerDeps {
  /** Asks who callers are, and reads the published authorities. */
  authentication: ReviewClient;
  /** Asks what callers may. */
  authorization: ReviewClient;
  clock: Clock;
  logger: Logger;
}

const text = Object.freeze({
  'content-type': 'text/plain; charset=utf-8',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-cache, private',
});
const json = Object.freeze({ 'content-type': 'application/json', 'cache-control': 'no-cache, private' });

/** /debug/flags/v (k8s.io/apiserver/pkg/server/routes flags.go). */
async function changeVerbosity(request: WireRequest, set: (level: number) => void): Promise<[status: number, body: string]> {
  if (request.method !== 'PUT') return [406, 'unrecognized http method\n'];
  const value = (await request.readBody()).toString();
  if (!/^-?\d+$/.test(value))
    return [400, `failed set klog.logging.verbosity ${value}: strconv.ParseInt: parsing ${quote(value)}: invalid syntax\n`];
  set(Number(value));
  return [200, `successfully set klog.logging.verbosity to ${value}`];
}

const ownPaths = ['/configz', '/flagz', '/healthz', '/livez', '/metrics', '/metrics/slis', '/readyz'];

/** Answers requests that may be answered. */
function handler(options: ComponentServerOptions, auth: DelegatedAuth, clock: Clock) {
  const { component, health, metrics, configz, setVerbosity, flags, decisions } = options;
  const slis = sliMetrics(health);
  const zpages = { component, clock, flags: () => flags, paths: [...ownPaths, ...(setVerbosity ? ['/debug/flags/v'] : [])] };
  return async (request: WireRequest, response: WireResponse): Promise<void> => {
    const path = request.path.split('?')[0] ?? '/';
    const { method, headers, peerCertificate } = request;
    const { accept = '', 'user-agent': userAgent = '' } = headers;
    try {
      await auth.check({ method, path, headers: distinctHeaders(request), certificate: peerCertificate?.certificate });
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      return response.send(error.status.code ?? 500, json, JSON.stringify(error.status));
    }
    const page = await routeZpage({ target: request.path, accept, userAgent }, zpages);
    if (page) return response.send(page.status, { 'content-type': page.type, ...page.headers }, page.body);
    const answer = await routeHealth(request.path, health());
    if (answer) return response.send(answer.status, text, answer.body);
    if (path === '/metrics') return response.send(200, { 'content-type': metrics.contentType }, await metrics.expose());
    if (path === '/metrics/slis') return response.send(200, { 'content-type': slis.contentType }, await slis.expose());
    if (path === '/configz') return response.send(200, json, JSON.stringify({ [configz.name]: configz.configuration }));
    if (path === '/debug/decisions' && decisions) {
      const query = new URLSearchParams(request.path.slice(path.length + 1));
      return response.send(200, json, JSON.stringify(decisions(query)));
    }
    if (path === '/debug/flags/v' && setVerbosity) {
      const [status, body] = await changeVerbosity(request, setVerbosity);
      return response.send(status, text, body);
    }
    response.send(404, text, '404 page not found\n');
  };
}

const bundle = ({ clientCa, requestHeader }: Authorities): string[] =>
  [clientCa, requestHeader?.ca].filter((ca) => ca !== undefined);

/** Starts serving. Rejects when it cannot listen, and where `auth.lookup` is strict, when the authorities cannot be looked up. */
export async function serveComponent(options: ComponentServerOptions, deps: ComponentServerDeps): Promise<WireServer> {
  const { clock, logger, authentication } = deps;
  const { serving, auth: authOptions } = options;
  const auth = new DelegatedAuth(authOptions, deps);
  const tlsWith = (authorities: Authorities) => ({ ...serving.tls, requestClientCert: true, ca: bundle(authorities) });
  let trusted: Authorities = authOptions;
  /** Whether something else than before is trusted now. */
  const look = async (): Promise<boolean> => {
    const before = JSON.stringify(bundle(trusted));
    trusted = await lookUpAuthorities(authentication, authOptions);
    auth.trust(trusted);
    return JSON.stringify(bundle(trusted)) !== before;
  };
  if (authOptions.lookup !== 'skip')
    await look().catch((error: unknown) => {
      if (authOptions.lookup === 'strict') throw error;
      logger.warn('Error looking up in-cluster authentication configuration', { error: String(error) });
      logger.warn('Continuing without authentication configuration. This may treat all requests as anonymous.');
    });
  const wire = await serve({
    tls: tlsWith(trusted),
    listen: serving.listen,
    logger,
    onRequest: handler(options, auth, clock),
    ...(serving.streamsMax !== undefined && { limits: { concurrentStreamsMax: serving.streamsMax } }),
  });
  logger.info('Serving securely', { address: `${serving.listen.host}:${wire.port}` });
  let timer = clock.setTimer(lookupRefreshMs, refresh);
  function refresh(): void {
    timer = clock.setTimer(lookupRefreshMs, refresh);
    void look().then(
      (changed) => changed && wire.reloadTls(tlsWith(trusted)),
      (error: unknown) => logger.debug('authentication configuration not read', { error: String(error) }),
    );
  }
  if (authOptions.lookup === 'skip') timer.cancel();
  return {
    ...wire,
    get port() {
      return wire.port;
    },
    get connections() {
      return wire.connections;
    },
    close(closing) {
      timer.cancel();
      return wire.close(closing);
    },
  };
}
