// An apiserver in memory with control loops over direct transports: what tests of loops and simulations stand on.
import { type AdmissionChain, type ApiServer, createApiServer } from '#apiserver';
import { createAdmission, defaultPluginOptions } from '#apiserver/admission';
import { createClient, createEventRecorder, createInformerFactory, type KubeClient } from '#client';
import { type ControllerDefinition, Decisions, type RunningController, startController } from '#controller-runtime';
import { openMemoryStore } from '#store';
import { type Clock, type Logger, type Rng, seededRng, silentLogger } from '#utils';

export interface TestControlPlaneOptions {
  clock: Clock;
  rng?: Rng;
  logger?: Logger;
  controllers?: readonly ControllerDefinition[];
  /** Names of admission plugins to switch off, when admission is on at all. Default: none run. On: the system's namespaces exist. */
  admission?: { disable: readonly string[] };
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

/** The plugins one after the other, first those that change the object. */
function chainOf(plugins: ReturnType<typeof createAdmission>): AdmissionChain {
  const run = (phase: 'admit' | 'validate') => async (request: Parameters<AdmissionChain['admit']>[0]) => {
    for (const plugin of plugins) if (plugin.handles(request.operation)) await plugin[phase]?.(request);
  };
  return { admit: run('admit'), validate: run('validate') };
}

const namespaces = { group: '', version: 'v1', resource: 'namespaces' };
const systemNamespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];
const admin = { name: 'system:admin', groups: ['system:masters', 'system:authenticated'] };

/** Starts it all. Nobody is authorized or admitted specially: everyone may do everything. */
export async function startTestControlPlane(options: TestControlPlaneOptions): Promise<TestControlPlane> {
  const { clock, rng = seededRng(1), logger = silentLogger, controllers = [] } = options;
  const store = openMemoryStore({ clock });
  const { admission } = options;
  const parts = ({ cluster, writer }: PartsInput): ApiServerParts => {
    if (!admission) return {};
    const authorizer = { authorize: () => ({ allowed: true, reason: '' }) };
    const context = { cluster, writer, authorizer, clock, rng, logger, options: defaultPluginOptions };
    return { admission: chainOf(createAdmission({ enable: [], disable: [...admission.disable] }, context)) };
  };
  const apiserver = await createApiServer({ store, clock, rng, logger, parts });
  const client = createClient(apiserver.transport(admin, 'test'));
  // With admission nothing can be made in a namespace that does not exist.
  if (admission) for (const name of systemNamespaces) await client.resource(namespaces).create({ metadata: { name } });
  const decisions = new Decisions();
  const informers = createInformerFactory({ client, clock, rng, logger });
  const running: RunningController[] = controllers.map((definition) => {
    const component = definition.eventSource ?? definition.name;
    const own = createClient(apiserver.transport(admin, definition.name));
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
