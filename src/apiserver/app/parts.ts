// Who may do what, from the options: authentication, authorization, admission, special endpoints and start hooks, in upstream's order
// (k8s.io/kubernetes pkg/kubeapiserver/options, pkg/controlplane/apiserver).
import { createPublicKey } from '../platform/crypto.ts';
import { generateKeyPair, jwtSigner, parsePrivateKey } from '#pki';
import type { Rng } from '#utils';
import { createAggregator } from '../aggregation/index.ts';
import {
  type AdmissionSelection,
  checkAdmissionFiles,
  createAdmission,
  defaultPluginOptions,
  measuredChain,
  measuredPlugins,
} from '../admission/index.ts';
import type { Authentication } from '../authentication/index.ts';
import { createGather } from '../decisions/index.ts';
import { bootstrapHooks, KubernetesServiceController } from '../bootstrap/index.ts';
import type { Authorizer } from '../authorization/types.ts';
import type { WebhookReach } from '../outbound/webhook-client.ts';
import { restsOf } from '../rests.ts';
import type { AdmissionChain } from '../registry/generic/types.ts';
import type { StorageHook } from '../registry/generic/storage-hook.ts';
import type { SpecialRest } from '../registry/special.ts';
import type { UserInfo } from '../request/request.ts';
import type { ReadOnlyCluster } from '../storage/read-only-cluster.ts';
import { chainOf } from '../registry/generic/admit.ts';
import { identityReviewEndpoints } from '../registry/authentication/reviews.ts';
import { accessReviewEndpoints } from '../registry/authorization/reviews.ts';
import { escalationHooks } from '../registry/rbac/escalation.ts';
import { adminAccessHooks } from '../registry/resource/admin-access.ts';
import { claimRightsHook } from '../registry/resource/claim-rights.ts';
import { metricsGroup, metricsRoleHook, type NodeStatsShortcut, StatsSource } from '../registry/metrics/index.ts';
import {
  coreEndpoints,
  ipRepairHook,
  type KubeletConnectionOptions,
  serviceHook,
  type TokenRequestOptions,
} from '../registry/core/index.ts';
import type { ApiServerParts, PartsInput } from '../server-options.ts';
import { byClusterIp, byEndpoint, type ServiceResolver, withLoopback } from '../outbound/service-resolver.ts';
import { audiencesOf, authenticationOf } from './authentication.ts';
import { authorizationOf } from './authorization.ts';
import { openIdDocuments } from './openid.ts';
import type { KubeApiServerOptions } from './options.ts';
import { isLoopback, type OwnAddress } from './own-address.ts';

export interface PartsDeps {
  rng: Rng;
  address: OwnAddress;
  /** Tokens of the process itself. */
  loopbackTokens: ReadonlyMap<string, UserInfo>;
  dialKubelet?: KubeletConnectionOptions['dialKubelet'];
  dialService?: KubeletConnectionOptions['dialKubelet'];
  nodeStats?: NodeStatsShortcut;
}

export async function buildParts(options: KubeApiServerOptions, deps: PartsDeps, input: PartsInput): Promise<ApiServerParts> {
  const { cluster, clock, logger } = input;
  const service = kubernetesServiceOf(options, deps, input);
  const { authorizer, rbac, close: closeAuthorization } = await authorizationOf(options, deps.rng, input);
  const authentication = await authenticationOf(options, deps, input);
  await checkAdmissionFiles(selectionOf(options), options.admissionConfiguration ?? new Map());
  const core = coreEndpoints({
    cluster,
    authorizer,
    rng: deps.rng,
    now: () => clock.now(),
    tokens: tokenOptions(options, input, () => deps.rng.uuid()),
    kubelet: { ...kubeletOptions(options), dialKubelet: deps.dialKubelet },
  });
  const source = { kubelets: core.kubelets, clock, logger, shortcut: deps.nodeStats };
  const virtual = options.metricsApi ? [metricsGroup(new StatsSource(source))] : [];
  const webhooks = { resolve: resolverOf(options, deps, cluster), dialService: deps.dialService };
  return {
    authenticate: (credentials) => authentication.authenticate(credentials),
    authorizer,
    admission: admissionOf(options, deps, input, { authorizer, webhooks }),
    special: [...core.endpoints, ...specialEndpoints(options, authentication, authorizer, input)],
    virtual,
    documents: openIdDocuments(options, () => deps.address.ofClients),
    ...decisionsOf(options, deps, input),
    close() {
      core.close();
      authentication.close();
      closeAuthorization();
    },
    hooks: [
      ...storageHooks(options, deps, input),
      claimRightsHook(authorizer),
      ...(rbac ? escalationHooks(rbac, authorizer) : []),
    ],
    leave: (readable, writable) => service.leave(readable, writable),
    startHooks: [
      ...bootstrapHooks({
        service,
        serviceCidrs: options.serviceClusterIpRange,
        trust: { clientCa: options.clientCa, requestHeader: options.requestHeader },
        clock,
      }),
      ipRepairHook({ clock, logger }),
      ...(options.metricsApi ? [metricsRoleHook] : []),
    ],
    webhooks,
    aggregator: createAggregator({
      cluster,
      virtual,
      clock,
      logger,
      metrics: input.metrics,
      rest: restsOf(clock).rest,
      requestTimeoutMs: options.requestTimeoutMs,
      resolve: webhooks.resolve,
      clientCertificate: options.proxyClient,
      dial: deps.dialService,
    }),
  };
}

/** Which admission plugins run. */
export const selectionOf = (options: KubeApiServerOptions): AdmissionSelection => ({
  enable: options.enableAdmissionPlugins,
  disable: options.disableAdmissionPlugins,
});

/** The admission chain with the plugins that the options name. */
function admissionOf(
  options: KubeApiServerOptions,
  { rng }: PartsDeps,
  { cluster, writer, clock, logger, metrics }: PartsInput,
  { authorizer, webhooks }: { authorizer: Authorizer; webhooks: WebhookReach },
): AdmissionChain {
  const { notReadyTolerationSeconds, unreachableTolerationSeconds } = options;
  const settings = { ...defaultPluginOptions, notReadyTolerationSeconds, unreachableTolerationSeconds };
  const context = { cluster, writer, authorizer, clock, rng, logger, metrics, webhooks, options: settings };
  const plugins = measuredPlugins(createAdmission(selectionOf(options), context, options.admissionConfiguration), metrics, clock);
  return measuredChain(chainOf(plugins), metrics, clock);
}

function kubernetesServiceOf(
  options: KubeApiServerOptions,
  { address }: PartsDeps,
  { store, clock, logger }: PartsInput,
): KubernetesServiceController {
  return new KubernetesServiceController(
    {
      clusterIp: firstAddress(options.serviceClusterIpRange[0] ?? ''),
      advertiseAddress: address.advertised,
      port: () => address.advertisedPort,
      nodePort: options.serviceNodePort ?? 0,
      reconciler: isLoopback(address.advertised) ? 'none' : options.endpointReconciler,
    },
    { store, clock, logger },
  );
}

/** How requests to Services find their way: webhooks and other API servers alike. */
const resolverOf = (options: KubeApiServerOptions, { rng, address }: PartsDeps, cluster: ReadOnlyCluster): ServiceResolver =>
  withLoopback(options.aggregatorRouting ? byEndpoint(cluster, rng) : byClusterIp(cluster), () => address.loopback);

/** What asks the servers of `--decisions-from`; empty where nobody is to be asked. */
function decisionsOf(
  { decisionsFrom: sources = [], proxyClient, clientCa }: KubeApiServerOptions,
  { address }: PartsDeps,
  { cluster, refusals }: PartsInput,
): Pick<ApiServerParts, 'decisions'> {
  if (sources.length === 0) return {};
  if (!proxyClient) throw new Error('--decisions-from needs --proxy-client-cert-file: nobody would believe who asks');
  const own = (): string => address.ofPeers;
  const vouching = clientCa !== undefined && { ca: clientCa };
  return { decisions: createGather({ sources, proxyClient, cluster, own, refusals, ...vouching }) };
}

function tokenOptions(options: KubeApiServerOptions, { clock }: PartsInput, uuid: () => string): TokenRequestOptions {
  // Without a key, tokens are signed with one that nobody trusts: the configuration says that this server issues no tokens that work.
  const key =
    options.serviceAccountSigningKey === undefined
      ? generateKeyPair().privateKey
      : parsePrivateKey(options.serviceAccountSigningKey);
  return {
    issuer: options.serviceAccountIssuers[0] ?? '',
    signer: jwtSigner(key, createPublicKey(key)),
    apiAudiences: audiencesOf(options),
    ...(options.tokenSecondsMax && { maxExpirationSeconds: options.tokenSecondsMax }),
    ...(options.extendTokens === false && { extendExpiration: false }),
    now: () => clock.now(),
    uuid,
  };
}

const kubeletOptions = ({ kubelet }: KubeApiServerOptions): KubeletConnectionOptions => ({
  preferredAddressTypes: kubelet.addressTypes,
  tls: () => ({
    ...(kubelet.client && { cert: kubelet.client.cert, key: kubelet.client.key }),
    ...(kubelet.ca === undefined ? { insecureSkipVerify: true } : { ca: kubelet.ca }),
  }),
});

function specialEndpoints(
  options: KubeApiServerOptions,
  authentication: Authentication,
  authorizer: Authorizer,
  { clock }: PartsInput,
): SpecialRest[] {
  return [
    ...identityReviewEndpoints(authentication, audiencesOf(options), () => clock.now()),
    ...accessReviewEndpoints(authorizer),
  ];
}

function storageHooks(options: KubeApiServerOptions, { rng }: PartsDeps, input: PartsInput): StorageHook[] {
  const { cluster, writer, logger, store, clock } = input;
  const [first, last] = options.serviceNodePortRange;
  const { serviceClusterIpRange: serviceCidrs } = options;
  const shared = store.consistency === 'ask' ? { store, clock } : undefined;
  return [
    serviceHook({ cluster, writer, rng, logger, serviceCidrs, nodePorts: { first, last }, shared }),
    ...adminAccessHooks(cluster),
  ];
}

/** The first usable address of a CIDR: that of the Service `kubernetes`. */
export function firstAddress(cidr: string): string {
  const address = cidr.split('/')[0] ?? '';
  if (address.includes(':'))
    return address.endsWith('::')
      ? `${address}1`
      : address.replace(/[0-9a-f]+$/i, (last) => (Number.parseInt(last, 16) + 1).toString(16));
  const parts = address.split('.').map(Number);
  let value = parts.reduce((sum, part) => sum * 256 + part, 0) + 1;
  const out: number[] = [];
  for (let i = 0; i < 4; i++) {
    out.unshift(value % 256);
    value = Math.floor(value / 256);
  }
  return out.join('.');
}
