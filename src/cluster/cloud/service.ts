// The cloud under a cluster. With real nodes it is a process of its own, as any cloud is to the clusters in it: a cluster that crashes leaves its
// machines running, and finds them again. With simulated nodes it lives in the cluster's process.
import type { Server } from 'node:net';
import type { Driver } from '#cloud';
import { CloudApiError, type CloudClient, cloudClientOver, createCloudClient, type SendCall } from '#cloud/client';
import { createLoadBalancerDriver, createLoopbackLoadBalancers } from '#cloud/load-balancers';
import { createMachineDriver, type MachineDriver } from '#cloud/machine';
import { directCalls } from '#cloud/memory';
import { type CloudAccount, type RunningCloud, startCloud } from '#cloud/server';
import type { Supervised, Supervisor } from '#component-base';
import type { Clock, Exec, Logger, Rng } from '#utils';
import type { ClusterSettings } from '../state/settings.ts';
import { asManager } from './as-manager.ts';
import { nameServices } from './name-service.ts';
import { type Announcement, CloudProcess } from './process.ts';
import { type CloudSettings, keepCloudSettings, openCloudSettings } from './settings.ts';
import { cloudApiName, customerAccount, serviceAccount } from './names.ts';
import type { SimulatedInstances } from './simulated-instances.ts';

export interface CloudDeps {
  clock: Clock;
  rng: Rng;
  logger: Logger;
  exec: Exec;
}

/** What the cloud needs from the cluster's process. */
export interface ClusterCloudDeps extends CloudDeps {
  supervisor: Supervisor;
}

export interface ClusterCloud {
  readonly settings: CloudSettings;
  /** The URL of the API, as this machine reaches it. */
  readonly url: string;
  /** The client of the cluster's owner. */
  readonly client: CloudClient;
  /** The client of the account that manages control planes; it sees nobody else's resources. */
  readonly service: CloudClient;
  /** A further client of the owner without a connection, where the cloud is in this process. */
  direct?(): CloudClient;
  /** Why its instances have no way out of the machine, where they were to have one. */
  readonly noUplink: string | undefined;
  stop(): Promise<void>;
}

const urlOf = (port: number): string => `https://127.0.0.1:${port}`;
const clientsOf = ({ customerToken, serviceToken, ca }: CloudSettings, port: number) => ({
  client: createCloudClient({ url: urlOf(port), token: customerToken, ca }),
  service: asManager(createCloudClient({ url: urlOf(port), token: serviceToken, ca }), serviceAccount),
});

const commonOptions = (settings: CloudSettings) => ({
  dataDir: settings.dir,
  listen: { host: '127.0.0.1', port: settings.port },
  tls: settings.serving,
  accounts: [
    { id: customerAccount, token: settings.customerToken, role: 'customer' as const },
    { id: serviceAccount, token: settings.serviceToken, role: 'service' as const },
  ],
  region: settings.region,
  zones: settings.zones,
  publicCidr: settings.publicCidr,
  mark: settings.mark,
});

/** CIDRs that the machine has routes to. */
async function machineRoutes(exec: Exec): Promise<ReadonlySet<string>> {
  const { stdout } = await exec('ip', ['-4', 'route', 'show', 'table', 'all'], { timeoutMs: 10_000 });
  return new Set(stdout.split('\n').map((line) => line.split(' ')[0] ?? ''));
}

const nobodyAnswers = (): Promise<never> =>
  Promise.reject(new Error('the nodes are simulated, their pods are not real processes'));

/** The cloud of this process while it runs. */
interface SimulatedCloud {
  /** Carry out calls of its accounts. */
  sends: Readonly<Record<CloudAccount['role'], SendCall>>;
  stop(): Promise<void>;
}

/** The client of an account of the cloud as it is now: one that has failed is started again, and nobody answers meanwhile. */
const clientIn = (cloud: Supervised<SimulatedCloud>, role: CloudAccount['role']): CloudClient =>
  cloudClientOver(
    (id, ...call) =>
      cloud.current?.sends[role](id, ...call) ??
      Promise.reject(new CloudApiError(`${id}: the cloud does not run`, { code: 'Unreachable', status: 0 })),
    () => {},
  );

/** Starts a cloud inside this process, whose instances are whatever `instances` makes of them. */
export async function startSimulatedCloud(
  { dataDir }: ClusterSettings,
  instances: SimulatedInstances,
  deps: ClusterCloudDeps,
): Promise<ClusterCloud> {
  const settings = await openCloudSettings(dataDir, () => Promise.resolve(new Set()));
  const logger = deps.logger.with({ component: 'cloud' });
  let kept = settings;
  const cloud = await deps.supervisor.run('cloud', async (): Promise<SimulatedCloud> => {
    const begun = await startCloud(
      {
        ...commonOptions(kept),
        drivers: {
          machines: instances.driver,
          'load-balancers': (context) => createLoopbackLoadBalancers(context, { ...deps, logger, dial: nobodyAnswers }),
        },
      },
      { ...deps, logger },
    );
    kept = { ...settings, port: begun.port };
    const { service } = begun;
    const sendsOf = (id: string, role: CloudAccount['role']): SendCall => directCalls({ ...deps, logger, service }, { id, role });
    const sends = { customer: sendsOf(customerAccount, 'customer'), service: sendsOf(serviceAccount, 'service') };
    return { sends, stop: () => begun.close() };
  });
  await keepCloudSettings(kept);
  return {
    settings: kept,
    url: urlOf(kept.port),
    client: clientIn(cloud, 'customer'),
    service: asManager(clientIn(cloud, 'service'), serviceAccount),
    direct: () => clientIn(cloud, 'customer'),
    noUplink: undefined,
    stop: () => cloud.stop(),
  };
}

export interface CloudProcessSettings {
  dataDir: string;
  uplink: boolean;
  /** Name servers for names that the cloud does not know, as this machine reaches them; empty: the machine's own. */
  dnsUpstreams: readonly string[];
}

/** Runs the cloud of a cluster with real machines in this process; `sagong cluster-cloud`. */
export async function runCloudProcess(
  { dataDir, uplink, dnsUpstreams }: CloudProcessSettings,
  deps: CloudDeps,
): Promise<RunningCloud> {
  const settings = await openCloudSettings(dataDir, () => machineRoutes(deps.exec));
  const started = deferred<RunningCloud>();
  const serve = async (handle: Server): Promise<unknown> => (await started.promise).listen({ handle });
  const cloud = await startCloud(
    {
      ...commonOptions(settings),
      realNetworks: true,
      drivers: {
        machines: (context) => tellingUplink(createMachineDriver(context, { ...deps, uplink })),
        'load-balancers': (context) => createLoadBalancerDriver(context, deps),
      },
    },
    {
      ...deps,
      nameService: nameServices({ mark: dataDir, clock: deps.clock, dnsUpstreams, api: { name: cloudApiName, serve } }),
    },
  );
  await keepCloudSettings({ ...settings, port: cloud.port });
  started.resolve(cloud);
  tell({ port: cloud.port });
  return cloud;
}

function deferred<T>(): { promise: Promise<T>; resolve(value: T): void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

const tell = (announcement: Announcement): void => void process.send?.(announcement);

/** Reports whether this machine has a way out, which is known when the networks are first made. */
function tellingUplink(machine: MachineDriver): Driver {
  let told = false;
  return {
    name: machine.name,
    async realise(world) {
      await machine.realise(world);
      if (machine.noUplink !== undefined && !told) tell({ noUplink: machine.noUplink });
      told = true;
    },
    close: () => machine.close(),
  };
}

/** Starts that process, keeps it running, and waits until its API answers. */
export async function startCloudProcess(
  { dataDir, uplink, dnsUpstreams = [] }: ClusterSettings,
  program: readonly string[],
  deps: ClusterCloudDeps,
): Promise<ClusterCloud> {
  const command = [...program, 'cluster-cloud', '--data-dir', dataDir, ...(uplink === 'none' ? ['--no-uplink'] : [])];
  command.push(...dnsUpstreams.flatMap((upstream) => ['--dns-upstream', upstream]));
  const cloud = new CloudProcess({ dataDir, command }, deps);
  const port = await cloud.start();
  const settings = await openCloudSettings(dataDir, () => Promise.resolve(new Set()));
  const clients = clientsOf(settings, port);
  return {
    settings,
    url: urlOf(port),
    ...clients,
    get noUplink() {
      return cloud.noUplink;
    },
    async stop() {
      clients.client.close();
      clients.service.close();
      await cloud.stop();
    },
  };
}
