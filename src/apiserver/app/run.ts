// kube-apiserver as a whole: store, apiserver and TLS server from options (k8s.io/kubernetes cmd/kube-apiserver/app).
import { watchFile } from '#host';
import { readText } from '../platform/files.ts';
import { randomBytes } from '../platform/crypto.ts';
import { builtinResources } from '#api';
import {
  buildInfo,
  createMetrics,
  type FlagTexts,
  inDomain,
  type Metrics,
  ownProcess,
  processMetrics,
  Supervisor,
} from '#component-base';
import { keptCertificate } from '#component-base/serving';
import { createCertificateAuthority, issueCertificate } from '#pki';
import { openEtcdStore, openDiskStore, openMemoryStore, type Store } from '#store';
import type { Clock, Logger, Rng } from '#utils';
import type { Dial, ListenTarget, WireServer } from '#wire';
import { type Encryption, type GroupResource, openEncryption } from '../encryption/index.ts';
import { builtinPrefix, resourceOfKey } from '../storage/keys.ts';
import { openAudit } from '../audit/index.ts';
import type { UserInfo } from '../request/request.ts';
import { createApiServer } from '../server.ts';
import type { ApiServer, ApiServerParts } from '../server-options.ts';
import { loopbackUser } from '../authentication/index.ts';
import { Doors, type RequestGate } from './doors.ts';
import type { CertificatePair, KubeApiServerOptions, StoreLocation } from './options.ts';
import type { NodeStatsShortcut } from '../registry/metrics/index.ts';
import { settingsOf } from '../settings.ts';
import { checkNamedFiles } from './named-files.ts';
import { advertiseAddress, OwnAddress } from './own-address.ts';
import { buildParts, firstAddress, type PartsDeps } from './parts.ts';

export interface KubeApiServerDeps {
  clock: Clock;
  rng: Rng;
  logger: Logger;
  metrics?: Metrics;
  /** A store that is open already (embedding, snapshots, tests); the server then leaves it open. */
  store?: Store;
  /** Freezes objects all the way down, to find writers to shared state: for tests. */
  deepFreeze?: boolean;
  /** Text of the file of field descriptions, if the build made one. */
  descriptions?(): Promise<string | undefined>;
  /** Where to listen, instead of the options' address and port. */
  listen?: ListenTarget;
  /** Opens connections to kubelets, e.g. inside another network namespace. */
  dialKubelet?: Dial;
  /** Opens connections to Services: webhooks and other API servers, e.g. inside another network namespace. */
  dialService?: Dial;
  gate?: RequestGate;
  /** The supervisor of the process, whose components `/readyz` shows. Default: one of its own. */
  supervisor?: Supervisor;
  /** What /flagz shows; left out: there is no /flagz. */
  flags?(): FlagTexts | Promise<FlagTexts>;
  /** Nothing else runs in this process, or not yet: what is in no other failure domain is in the apiserver's. */
  alone?: boolean;
  /** Is told of errors that nobody caught. */
  onStray?(error: unknown): void;
  /** What nodes of this process use, without a connection to their kubelets. */
  nodeStats?: NodeStatsShortcut;
}

export interface KubeApiServer extends ApiServer {
  readonly wire: WireServer;
  readonly store: Store;
  /** `https://host:port`, reachable from this machine. */
  readonly url: string;
  /** The authority clients have to trust; only for a certificate made here. */
  readonly ca: string | undefined;
  /** Another serving certificate for new connections. Throws, and changes nothing, when it cannot be used. */
  serveWith(pair: CertificatePair): void;
  /** Serves at a further address, as at its own. Closed with the server at the latest. */
  serveOn(listen: ListenTarget): Promise<WireServer>;
  /** A bearer token of system:masters for this process. */
  readonly loopbackToken: string;
}

/** Resolves when the server listens; `started` tells when the start hooks have run. Rejects when the store cannot be opened or the address cannot be listened on. */
export async function runKubeApiServer(options: KubeApiServerOptions, deps: KubeApiServerDeps): Promise<KubeApiServer> {
  const { metrics = createMetrics(), supervisor = new Supervisor(deps) } = deps;
  supervisor.countIn(metrics);
  processMetrics(metrics);
  buildInfo(metrics);
  // An error that nobody caught, of one request or of one timer, is noted, and everybody else is served on.
  const domain = supervisor.lasting('kube-apiserver', deps.onStray);
  if (deps.alone) ownProcess(domain);
  return inDomain(domain, () => run(options, { ...deps, metrics, supervisor }));
}

type Given = KubeApiServerDeps & { metrics: Metrics; supervisor: Supervisor };

async function run(options: KubeApiServerOptions, deps: Given): Promise<KubeApiServer> {
  const { clock, rng, logger, metrics, supervisor, gate } = deps;
  await checkNamedFiles(options);
  const store = deps.store ?? (await openStore(options.store, clock, logger));
  const encryption = await encryptionOf(options, store, { ...deps, metrics });
  const loopbackToken = randomBytes(32).toString('base64url');
  const audit = await openAudit(options.audit, { clock, rng, logger, metrics });
  const address = new OwnAddress(options);
  const partsDeps: PartsDeps = {
    rng,
    address,
    loopbackTokens: new Map([[loopbackToken, loopbackUser]]),
    dialKubelet: deps.dialKubelet,
    dialService: deps.dialService,
    nodeStats: deps.nodeStats,
  };
  const server = await createApiServer({
    store: encryption?.store ?? store,
    isStale: encryption && ((key) => encryption.store.isStale(key)),
    checks: encryption?.checks,
    clock,
    rng,
    logger,
    metrics,
    settings: settingsOf(options),
    audit,
    deepFreeze: deps.deepFreeze,
    address: () => address.ofDiscovery,
    isServed: options.isServed,
    components: () => supervisor.healthChecks(),
    parts: async (input) => gated(await buildParts(options, partsDeps, input), gate),
    descriptions: deps.descriptions,
    flags: deps.flags,
    holdStart: true,
  });
  const { own, pair } = await certificateOf(options, clock);
  const doors = new Doors(server, pair, options, deps);
  const wire = await doors.open(deps.listen ?? ownAddress(options));
  address.learnPort(wire.port);
  const serveWith = (changed: CertificatePair): void => doors.serveWith(changed);
  const reload = options.servingFiles && reloading(options.servingFiles, serveWith, logger);
  server.start();
  logger.info('Serving securely', { address: `${options.bindAddress}:${wire.port}` });
  return {
    ...server,
    ...(gate && { transport: (user: UserInfo, agent?: string) => gate.transport(server.transport(user, agent), user) }),
    wire,
    store,
    url: address.url,
    ca: own?.ca,
    loopbackToken,
    serveWith,
    serveOn: (listen) => doors.open(listen),
    async close() {
      logger.info('[graceful-termination] shutdown event', { name: 'ShutdownInitiated' });
      if (options.shutdownDelayMs) {
        server.leave();
        await clock.sleep(options.shutdownDelayMs);
      }
      reload?.close();
      await server.close();
      await doors.close();
      await audit?.close();
      encryption?.close();
      if (!deps.store) await store.close();
      logger.info('[graceful-termination] apiserver is exiting');
    },
  };
}

/** Reads the serving certificate again whenever its file changes, as upstream does; one that is not whole yet is read at the next change. */
function reloading(
  files: { cert: string; key: string },
  serveWith: (pair: CertificatePair) => void,
  logger: Logger,
): { close(): void } {
  const read = async (): Promise<void> => {
    try {
      const [cert, key] = await Promise.all([readText(files.cert), readText(files.key)]);
      serveWith({ cert, key });
      logger.info('serving certificate reloaded', { file: files.cert });
    } catch (error) {
      logger.error('the changed serving certificate cannot be used', { file: files.cert, err: (error as Error).message });
    }
  };
  return watchFile(files.cert, () => void read());
}

const ownAddress = ({ bindAddress: host, securePort: port, reusePort }: KubeApiServerOptions): ListenTarget => ({
  host,
  port,
  ...(reusePort && { reusePort: true }),
});

const gated = (parts: ApiServerParts, gate: RequestGate | undefined): ApiServerParts =>
  gate ? { ...parts, onAllowed: (asked) => gate.before(asked) } : parts;

function openStore(location: StoreLocation, clock: Clock, logger: Logger): Promise<Store> {
  const { etcdServers, etcdTls, dataDir: path, mustExist = false, quotaBytes = 0 } = location;
  if (etcdServers.length > 0) return openEtcdStore({ endpoints: etcdServers, clock, logger, ...(etcdTls && { tls: etcdTls }) });
  if (path === '') return Promise.resolve(openMemoryStore({ clock, logger }));
  return openDiskStore({ path, clock, logger, mustExist, ...(quotaBytes > 0 && { quotaBytes }) });
}

/** Encryption of the store as the flags ask for it; a store that was opened here is closed again when it cannot be had. */
async function encryptionOf(
  { encryption }: KubeApiServerOptions,
  store: Store,
  deps: KubeApiServerDeps & { metrics: Metrics },
): Promise<Encryption | undefined> {
  if (!encryption) return undefined;
  const prefixes = new Map<string, GroupResource>();
  // Resources of two groups are stored under the first: events.
  for (const { group, resource, subresource } of builtinResources()) {
    const prefix = builtinPrefix(group, resource);
    if (subresource === '' && !prefixes.has(prefix)) prefixes.set(prefix, { group, resource });
  }
  try {
    return await openEncryption(encryption, { ...deps, store, resourceOf: (key) => resourceOfKey(prefixes, key) });
  } catch (error) {
    if (!deps.store) await store.close();
    throw error;
  }
}

/** What is served with; `own` where it is made now. One that is kept in `--cert-dir` is found there the next time. */
async function certificateOf(
  options: KubeApiServerOptions,
  clock: Clock,
): Promise<{ own?: ReturnType<typeof selfSigned>; pair: CertificatePair }> {
  if (options.serving) return { pair: options.serving };
  const own = selfSigned(options, clock);
  if (!options.certDir) return { own, pair: own };
  const { cert, key } = await keptCertificate(options.certDir, 'apiserver', () => own);
  return { pair: { cert: cert.toString(), key: key.toString() } };
}

/** A certificate for when none was given, as upstream makes one. */
function selfSigned(options: KubeApiServerOptions, clock: Clock): CertificatePair & { ca: string } {
  const ca = createCertificateAuthority({ commonName: 'sagong-serving-ca', clock });
  const ips = [...new Set(['127.0.0.1', advertiseAddress(options), firstAddress(options.serviceClusterIpRange[0] ?? '')])].filter(
    (ip) => ip !== '',
  );
  const dnsNames = [
    'localhost',
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    'kubernetes.default.svc.cluster.local',
  ];
  const pair = issueCertificate({
    ca,
    commonName: 'kube-apiserver',
    ips,
    dnsNames,
    usages: ['digital signature', 'key encipherment', 'server auth'],
    clock,
  });
  return { cert: `${pair.cert}${ca.cert}`, key: pair.key, ca: ca.cert };
}
