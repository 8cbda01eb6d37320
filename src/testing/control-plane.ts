// An apiserver in memory with control loops over direct transports: what tests of loops and simulations stand on.
import { type ApiServer, createApiServer } from '#apiserver';
import { defaultOptions, runKubeApiServer } from '#apiserver/app';
import { chainOf, createAdmission, defaultPluginOptions } from '#apiserver/admission';
import { createClient, createEventRecorder, createInformerFactory, type KubeClient } from '#client';
import { type ControllerDefinition, Decisions, type RunningController, startController } from '#controller-runtime';
import { openMemoryStore, type Store } from '#store';
import { type Clock, type Logger, type Rng, seededRng, silentLogger } from '#utils';
import type { FaultInjector } from './faults.ts';

export interface TestControlPlaneOptions {
  clock: Clock;
  rng?: Rng;
  logger?: Logger;
  controllers?: readonly ControllerDefinition[];
  /** Names of admission plugins to switch off, when admission is on at all. Default: none run. On: the system's namespaces exist. */
  admission?: { disable: readonly string[] };
  /** The apiserver as it runs alone: RBAC, reviews, binding, eviction, all that is more than storage; admission as `admission` says. */
  whole?: boolean;
  /** Faults between the loops and the apiserver; `client` has none. */
  faults?: FaultInjector;
}

export interface TestControlPlane {
  readonly apiserver: ApiServer;
  readonly decisions: Decisions;
  /** May do everything. */
  readonly client: KubeClient;
  stop(): Promise<void>;
}

type Parts = NonNullable<Parameters<typeof createApiServer>[0]['parts']>;
type PartsInput = Parameters<Parts>[0];
type ApiServerParts = Awaited<ReturnType<Parts>>;

const namespaces = { group: '', version: 'v1', resource: 'namespaces' };
const systemNamespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];
const admin = { name: 'system:admin', groups: ['system:masters', 'system:authenticated'] };

interface ServerDeps {
  store: Store;
  clock: Clock;
  rng: Rng;
  logger: Logger;
}

/** Storage and, when asked for, admission. */
function apiServer({ admission }: TestControlPlaneOptions, { store, clock, rng, logger }: ServerDeps): Promise<ApiServer> {
  const parts = ({ cluster, writer }: PartsInput): ApiServerParts => {
    if (!admission) return {};
    const authorizer = { authorize: () => ({ allowed: true, reason: '' }) };
    const context = { cluster, writer, authorizer, clock, rng, logger, options: defaultPluginOptions };
    return { admission: chainOf(createAdmission({ enable: [], disable: [...admission.disable] }, context)) };
  };
  return createApiServer({ store, clock, rng, logger, parts, deepFreeze: true });
}

/** Everything. It listens on a free port of 127.0.0.1, too. */
async function wholeApiServer({ admission }: TestControlPlaneOptions, deps: ServerDeps): Promise<ApiServer> {
  const server = await runKubeApiServer(
    {
      ...defaultOptions(),
      store: { etcdServers: [], dataDir: '' },
      bindAddress: '127.0.0.1',
      securePort: 0,
      disableAdmissionPlugins: [...(admission?.disable ?? [])],
    },
    { ...deps, deepFreeze: true },
  );
  await server.started;
  return server;
}

/** Starts it all. Unless `whole`, nobody is authorized or admitted specially: everyone may do everything. */
export async function startTestControlPlane(options: TestControlPlaneOptions): Promise<TestControlPlane> {
  const { clock, rng = seededRng(1), logger = silentLogger, controllers = [] } = options;
  const store = openMemoryStore({ clock });
  const apiserver = await (options.whole ? wholeApiServer : apiServer)(options, { store, clock, rng, logger });
  const client = createClient(apiserver.transport(admin, 'test'));
  // With admission nothing can be made in a namespace that does not exist.
  if (options.admission && !options.whole)
    for (const name of systemNamespaces) await client.resource(namespaces).create({ metadata: { name } });
  const decisions = new Decisions();
  const connect = (as: string): KubeClient => {
    const transport = apiserver.transport(admin, as);
    return createClient(options.faults?.wrap(transport) ?? transport);
  };
  const informers = createInformerFactory({ client: connect('informers'), clock, rng, logger });
  const running: RunningController[] = controllers.map((definition) => {
    const component = definition.eventSource ?? definition.name;
    const own = connect(definition.name);
    const recorder = createEventRecorder({ client: own, clock, logger, component });
    return startController(definition, { client: own, informers, recorder, clock, logger, decisions });
  });
  informers.start();
  return {
    apiserver,
    decisions,
    client,
    async stop() {
      await Promise.all(running.map((controller) => controller.stop()));
      informers.stop();
      await apiserver.close();
      await store.close();
    },
  };
}
