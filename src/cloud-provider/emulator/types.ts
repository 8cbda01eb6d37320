// A vendor's API over somebody else's machines: the vendor's part is plain data and synchronous (what its load balancers are asked to do), the local
// cloud's part is done by `src/cloud/emulators/vendor`, which hands in what exists and carries out what is wanted.
import type { Rng } from '#utils';
import type { AnsweringApi } from './answering.ts';

/** An instance of the local cloud. */
export interface EmulatedMachine {
  /** `i-` and eight hex digits. */
  id: string;
  name: string;
  type: string;
  cpus: number;
  memoryMiB: number;
  zone: string;
  state: 'starting' | 'running' | 'stopped';
  privateAddress: string;
  publicAddress?: string;
  /** RFC 3339. */
  createdAt: string;
}

export interface EmulatedHealthCheck {
  protocol: 'http' | 'https' | 'tcp';
  port: number;
  path?: string;
  intervalMs: number;
  timeoutMs: number;
  healthyThreshold: number;
  unhealthyThreshold: number;
}

/** A load balancer as the vendor was asked for it, in the words of the local cloud. */
export interface EmulatedBalancer {
  /** Lasts as long as the load balancer: at most 50 letters, digits and dashes. */
  key: string;
  /** `network` hands packets on as they came, `proxy` takes connections and makes its own to `targetPort`. */
  kind: 'proxy' | 'network';
  scheme: 'internet-facing' | 'internal';
  /** One that must be had when it is made. */
  address?: string;
  listeners: { protocol: 'tcp' | 'udp'; port: number; targetPort?: number }[];
  /** IDs of machines. */
  machines: string[];
  /** IPv4 ranges of those who may use it; none: nobody. */
  sourceRanges: string[];
  healthCheck?: EmulatedHealthCheck;
  proxyProtocol: 'none' | 'v1' | 'v2';
  affinityTimeoutSeconds?: number;
}

/** What has become of a load balancer that was asked for. */
export interface MadeBalancer {
  address: string;
  state: 'provisioning' | 'active' | 'failed';
}

/** A route that leads packets for the pods of a machine to it. */
export interface EmulatedRoute {
  destination: string;
  /** ID of the machine. */
  machine: string;
}

/** An account of the vendor's, alive. Everything in it is synchronous but the answers. */
export interface VendorEmulation extends AnsweringApi {
  /** The machines that there are, before each request. */
  setMachines(machines: readonly EmulatedMachine[]): void;
  /** What has become of its load balancers, by key, before each request. */
  setBalancers(made: ReadonlyMap<string, MadeBalancer>): void;
  /** Throws `Refusal` for what the local cloud cannot do: then the change is taken back, and this is its answer. */
  balancers(): EmulatedBalancer[];
  /** The routes that the vendor has now. Absent: it has none at all. */
  routes?(): EmulatedRoute[];
  /** Public addresses that it holds, of those that it was given. Absent: its load balancers get theirs from the local cloud when they are made. */
  addresses?(): string[];
  /** Public addresses of the local cloud that nobody has, before each change: what is made next may take them. */
  setFreeAddresses?(addresses: readonly string[]): void;
  /** All that is not the local cloud's, as text. */
  save(): string;
}

export interface VendorEmulationContext {
  /** What `save` gave at another time; undefined at first. */
  saved: string | undefined;
  /** The secret of the account's owner, as `newSecret` made it. */
  secret: string;
  region: string;
  zones: readonly string[];
  /** ID of the cluster's network in the local cloud. */
  networkId: string;
  /** The ranges of its subnets; load balancers have their private addresses in the first. */
  subnetCidrs: readonly string[];
  instanceTypes: readonly string[];
  now(): number;
  rng: Rng;
}

export interface VendorManagerContext extends Pick<VendorEmulationContext, 'secret' | 'region' | 'zones' | 'networkId'> {
  /** Where the API answers. */
  url: string;
  /** Name of the cluster. */
  cluster: string;
  /** Folder of the configuration and of `files`. */
  dir: string;
}

/** What a cloud-controller-manager of the vendor is started with. */
export interface VendorManagerSetup {
  /** Variables of the environment. */
  env: Readonly<Record<string, string>>;
  /** Others, of real accounts perhaps, that would count as well. */
  unset: readonly string[];
  /** Text of `--cloud-config`; '' for none. */
  config: string;
  /** Further files, as keys, by their names in `dir`; the owner alone may read them. */
  files?: Readonly<Record<string, string>>;
  /** Flags of the provider, by their names on the command line without dashes. */
  flags?: Readonly<Record<string, string | boolean | readonly string[]>>;
  /** What the provider does in the cluster under names of its own, beyond the documented role: by service account in kube-system. */
  rights: Readonly<Record<string, readonly { apiGroups: string[]; resources: string[]; verbs: string[] }[]>>;
}

export interface VendorEmulatorDefinition {
  /** `--cloud-provider` of the vendor. */
  readonly provider: string;
  /** A secret as the vendor's users have it: a token, a key. Made once for an account. */
  newSecret(): string;
  /** Whether its machines have public addresses, whatever else is asked for. */
  readonly publicAddresses: boolean;
  open(context: VendorEmulationContext): VendorEmulation;
  manager(given: VendorManagerContext): VendorManagerSetup;
}
