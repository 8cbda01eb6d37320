// The manager's own HTTPS endpoints (k8s.io/cloud-provider app, k8s.io/controller-manager app/serve.go): health, metrics, configuration. Served
// also while another process leads.
import { createMetrics, type HealthCheck, type Metrics, routeHealth } from '#component-base';
import type { KubeClient } from '#client';
import { createCertificateAuthority, issueCertificate } from '#pki';
import type { Clock, Logger } from '#utils';
import { serve, type ServingCertificate, type WireRequest, type WireResponse, type WireServer } from '#wire';
import { DelegatedAuth } from './delegated-auth.ts';

export interface CloudControllerManagerServerOptions {
  /** `--bind-address`, `--secure-port`. */
  listen: { host: string; port: number };
  /** Default: a certificate made for this process. */
  tls?: ServingCertificate;
  /** Authority of client certificates, PEM. */
  clientCa?: string;
  healthChecks(): readonly HealthCheck[];
  metrics: Metrics;
  /** Shown by /configz. */
  configuration: object;
}

export interface CloudControllerManagerServerDeps {
  client: KubeClient;
  clock: Clock;
  logger: Logger;
}

const text = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' };

/** A self-signed certificate in memory, as upstream makes without `--cert-dir`. */
function ownCertificate(clock: Clock): ServingCertificate {
  const ca = createCertificateAuthority({ commonName: 'cloud-controller-manager-ca', clock });
  return issueCertificate({
    ca,
    commonName: 'cloud-controller-manager',
    dnsNames: ['localhost', 'cloud-controller-manager'],
    ips: ['127.0.0.1'],
    usages: ['digital signature', 'key encipherment', 'server auth'],
    clock,
  });
}

/** Starts serving. Rejects when it cannot listen. */
export function serveCloudControllerManager(
  options: CloudControllerManagerServerOptions,
  { client, clock, logger }: CloudControllerManagerServerDeps,
): Promise<WireServer> {
  const auth = new DelegatedAuth(client, clock);
  const slis = createMetrics();
  slis.gauge({
    name: 'kubernetes_healthcheck',
    help: 'Result of each health check.',
    labels: ['name', 'type'],
    async collect(gauge) {
      for (const { name, check } of options.healthChecks())
        gauge.set(
          await Promise.resolve(check())
            .then(
              () => 1,
              () => 0,
            )
            .catch(() => 0),
          name,
          'healthz',
        );
    },
  });
  const answer = async (request: WireRequest, response: WireResponse): Promise<void> => {
    const path = request.path.split('?')[0] ?? '/';
    const subject = request.peerCertificate?.authorized ? request.peerCertificate.subject : undefined;
    const verdict = await auth.check({
      method: request.method,
      path,
      authorization: request.headers.authorization,
      ...(subject && { certificate: subject }),
    });
    if (verdict.status !== 200) return response.send(verdict.status, text, verdict.message);
    const checks = options.healthChecks();
    const health = await routeHealth(request.path, { healthz: checks, livez: checks, readyz: checks });
    if (health) return response.send(health.status, text, health.body);
    if (path === '/metrics')
      return response.send(200, { 'content-type': options.metrics.contentType }, await options.metrics.expose());
    if (path === '/metrics/slis') return response.send(200, { 'content-type': slis.contentType }, await slis.expose());
    if (path === '/configz')
      return response.send(
        200,
        { 'content-type': 'application/json' },
        JSON.stringify({ 'cloudcontrollermanager.config.k8s.io': options.configuration }),
      );
    response.send(404, text, '404 page not found\n');
  };
  return serve({
    tls: {
      ...(options.tls ?? ownCertificate(clock)),
      requestClientCert: options.clientCa !== undefined,
      ...(options.clientCa !== undefined && { ca: options.clientCa }),
    },
    listen: options.listen,
    logger,
    onRequest: answer,
  });
}
