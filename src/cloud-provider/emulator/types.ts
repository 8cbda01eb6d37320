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

/** What has become of one. */
export interface MadeBalancer {
  address: string;
  state: 'provisioning' | 'active' | 'failed';
}

/** Packets for pods of a machine. */
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
  /** Absent: the vendor has no routes. */
  routes?(): EmulatedRoute[];
  /** All that is not the local cloud's, as text. */
  save(): string;
}

export interface VendorEmulationContext {
  /** What `save` gave at another time; undefined at first. */
  saved: string | undefined;
  /** The secret of the account's owner. */
  token: string;
  region: string;
  /** ID of the cluster's network in the local cloud. */
  networkId: string;
  instanceTypes: readonly string[];
  now(): number;
  rng: Rng;
}

/** What a cloud-controller-manager of the vendor is started with. */
export interface VendorManagerSetup {
  /** Variables of the environment. */
  env: Readonly<Record<string, string>>;
  /** Others, of real accounts perhaps, that would count as well. */
  unset: readonly string[];
  /** Text of `--cloud-config`; '' for none. */
  config: string;
  /** What the provider does in the cluster under names of its own, beyond the documented role: by service account in kube-system. */
  rights: Readonly<Record<string, readonly { apiGroups: string[]; resources: string[]; verbs: string[] }[]>>;
}

export interface VendorEmulatorDefinition {
  /** `--cloud-provider` of the vendor. */
  readonly provider: string;
  /** What a token of the vendor's begins with. */
  readonly tokenPrefix: string;
  /** Whether its machines have public addresses, whatever else is asked for. */
  readonly publicAddresses: boolean;
  open(context: VendorEmulationContext): VendorEmulation;
  manager(given: { url: string; token: string; region: string; cluster: string }): VendorManagerSetup;
}
