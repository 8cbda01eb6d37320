// All that exists, as one value: the core changes it, drivers make it real, the disk keeps it. Frozen once published; a change makes a new one
// that shares what did not change. Pure.
import type {
  Address,
  DnsZone,
  Instance,
  InstanceState,
  LoadBalancer,
  NetworkInterface,
  RouteTable,
  SecurityGroup,
  Subnet,
  TargetHealth,
  Vpc,
} from './resources.ts';

export interface World {
  readonly vpcs: ReadonlyMap<string, Vpc>;
  readonly subnets: ReadonlyMap<string, Subnet>;
  readonly routeTables: ReadonlyMap<string, RouteTable>;
  readonly securityGroups: ReadonlyMap<string, SecurityGroup>;
  readonly interfaces: ReadonlyMap<string, NetworkInterface>;
  readonly instances: ReadonlyMap<string, Instance>;
  readonly addresses: ReadonlyMap<string, Address>;
  readonly loadBalancers: ReadonlyMap<string, LoadBalancer>;
  readonly dnsZones: ReadonlyMap<string, DnsZone>;
}

export const emptyWorld: World = {
  vpcs: new Map(),
  subnets: new Map(),
  routeTables: new Map(),
  securityGroups: new Map(),
  interfaces: new Map(),
  instances: new Map(),
  addresses: new Map(),
  loadBalancers: new Map(),
  dnsZones: new Map(),
};

/** What drivers have seen happen on the machine; the core folds it into the world. */
export type Observation =
  | {
      kind: 'instance-state';
      instanceId: string;
      state: Extract<InstanceState, 'running' | 'stopped' | 'terminated'>;
      initPid?: number;
      reason?: string;
    }
  | {
      kind: 'load-balancer-state';
      loadBalancerId: string;
      state: 'active' | 'failed';
      reason?: string;
      loopbackPorts?: Record<string, number>;
    }
  | { kind: 'target-health'; loadBalancerId: string; instanceId: string; health: TargetHealth };

/**
 * Makes one part of the world real. Level-based: called with the newest world after every change, never twice at once, and again after a failure;
 * it compares with what the machine has, and brings a machine that was left half done (a crash) in line. A rejected promise is logged,
 * and tried again with a growing pause.
 */
export interface Driver {
  readonly name: string;
  realise(world: World): Promise<void>;
  /** Ends what the driver runs and takes its pieces off the machine. The world is kept: the next start makes it real again. */
  close(): Promise<void>;
}

/** What a driver needs is made by another driver and is not there yet. It is reported only when it stays so. */
export class NotYetError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NotYetError';
  }
}

/** What every driver is built with. */
export interface DriverContext {
  /** Six hex digits: everything on the machine that belongs to this cloud carries them. */
  mark: string;
  /** The range of public addresses. The first is that of the edge and its name server; load balancers and instances get the others. */
  publicCidr: string;
  /** Folder for the driver's files; absolute. Part of every command line it starts. */
  dir: string;
  observe(observation: Observation): void;
}
