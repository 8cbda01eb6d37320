// An apiserver in memory with control loops over direct transports: what tests of loops and simulations stand on.
import { type ApiServer, createApiServer } from '#apiserver';
import { createClient, createEventRecorder, createInformerFactory, type KubeClient } from '#client';
import { type ControllerDefinition, Decisions, type RunningController, startController } from '#controller-runtime';
import { openMemoryStore } from '#store';
import { type Clock, type Logger, type Rng, seededRng, silentLogger } from '#utils';

export interface TestControlPlaneOptions {
  clock: Clock;
  rng?: Rng;
  logger?: Logger;
  controllers?: readonly ControllerDefinition[];
}

export interface TestControlPlane {
  readonly apiserver: ApiServer;
  readonly decisions: Decisions;
  /** May do everything. */
  readonly client: KubeClient;
  stop(): Promise<void>;
}

const admin = { name: 'system:admin', groups: ['system:masters', 'system:authenticated'] };

/** Starts it all. Nobody is authorized or admitted specially: everyone may do everything. */
export async function startTestControlPlane(options: TestControlPlaneOptions): Promise<TestControlPlane> {
  const { clock, rng = seededRng(1), logger = silentLogger, controllers = [] } = options;
  const store = openMemoryStore({ clock });
  const apiserver = await createApiServer({ store, clock, rng, logger });
  const client = createClient(apiserver.transport(admin, 'test'));
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
