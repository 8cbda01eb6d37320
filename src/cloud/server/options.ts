// What a cloud is started with.
import type { ListenAddress, ListenTarget, ServerTls } from '#wire';
import type { Clock, Logger, Rng } from '#utils';
import type { NameAnswer, Quotas } from '../core/index.ts';
import type { Driver, DriverContext, Faults, InstanceType, World } from '../model/index.ts';
import type { CloudService } from './service.ts';

export interface CloudAccount {
  id: string;
  /** Bearer token. */
  token: string;
  /** `service`: a service of the provider, which sees all accounts and may have interfaces in their subnets. */
  role: 'customer' | 'service';
}

export type DriverFactory = (context: DriverContext) => Driver | Promise<Driver>;

export interface CloudOptions {
  /** The world, and files of the drivers; made when missing. Absolute. */
  dataDir: string;
  /** Default: 127.0.0.1, any free port. */
  listen?: ListenTarget | readonly ListenTarget[];
  /** Without it the API is plain HTTP. */
  tls?: ServerTls;
  accounts: readonly CloudAccount[];
  region: string;
  /** Names of the zones. */
  zones: readonly string[];
  /** The first is the default one. Default: `defaultInstanceTypes`. */
  instanceTypes?: readonly InstanceType[];
  /** Public addresses; the first ones are the edge's own. */
  publicCidr: string;
  /** Six hex digits: everything on the machine that belongs to this cloud carries them. */
  mark: string;
  /** Interfaces live in network namespaces of this machine, and the API names them. */
  realNetworks?: boolean;
  /** Drivers by name, which is also the name of their folder below `dataDir`. */
  drivers: Readonly<Record<string, DriverFactory>>;
  quotas?: Partial<Quotas>;
  /** How long terminated instances are listed. */
  terminatedKeepMs?: number;
}

/** Where and what a VPC's name service answers. */
export interface NameServiceOptions {
  netns: string;
  /** The address of the VPC's name server. */
  address: string;
  /** Asked for each question; `forward`: the name is not known here. */
  resolve(question: { name: string; type: string }): NameAnswer;
  /** Whether to ask the machine's name servers for what is not known here. */
  forward: boolean;
}
/** Starts a name service in a network namespace; rejects while that is not there. */
export type NameServiceStart = (options: NameServiceOptions) => Promise<{ close(): void }>;

export interface CloudDeps {
  clock: Clock;
  rng: Rng;
  logger: Logger;
  /** Absent: VPCs have no name service on the machine. */
  nameService?: NameServiceStart;
}

export interface RunningCloud {
  readonly addresses: readonly ListenAddress[];
  /** The port of the first address. */
  readonly port: number;
  /** The newest world that is on disk. */
  readonly world: World;
  readonly faults: Faults;
  /** What answers calls, for those of this process. */
  readonly service: CloudService;
  /** Sets the faults, as `PUT /v1/faults` does. */
  setFaults(faults: Faults): void;
  /** Serves on one more address. */
  listen(target: ListenTarget): Promise<ListenAddress>;
  /** Stops answering, and closes the drivers. The world is kept. */
  close(): Promise<void>;
}

export const defaultInstanceTypes: readonly InstanceType[] = [
  { name: 'local.small', cpus: 1, memoryMiB: 2048 },
  { name: 'local.medium', cpus: 2, memoryMiB: 4096 },
  { name: 'local.large', cpus: 4, memoryMiB: 8192 },
  { name: 'local.xlarge', cpus: 8, memoryMiB: 16_384 },
];
