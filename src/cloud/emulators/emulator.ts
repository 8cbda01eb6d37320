// A vendor's API in front of the local cloud: an adapter that translates. What exists is in the local cloud; an emulator keeps only what the vendor
// knows beyond that (a listener's certificate, a target group), and makes the local cloud do as much of it as it can.
import type { IncomingHttpHeaders } from 'node:http';
import type { Clock, Logger, Rng } from '#utils';
import type { CloudClient } from '../client/index.ts';

export interface EmulatorContext {
  /** The local cloud, as its customer. */
  cloud: CloudClient;
  region: string;
  /** A folder of its own: facts, keys, files for clients. */
  dir: string;
  clock: Clock;
  rng: Rng;
  logger: Logger;
}

export interface EmulatedHead {
  method: string;
  /** The path with its query, as sent. */
  path: string;
  headers: IncomingHttpHeaders;
}
export interface EmulatedRequest extends EmulatedHead {
  body: Buffer;
}

export interface EmulatedAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** What a cloud-controller-manager is started with to work on the emulated cloud. */
export interface ManagerSetup {
  /** `--cloud-provider` of ours; upstream's managers are of one vendor. */
  provider: string;
  /** `--cloud-config`. */
  configFile: string;
  /** Beside what it has of its own environment. */
  env: Readonly<Record<string, string>>;
  /** Variables of the environment that would win over those. */
  unset: readonly string[];
  /** What the vendor's provider does in the cluster under names of its own: by service account in kube-system. */
  rights?: Readonly<Record<string, readonly { apiGroups: string[]; resources: string[]; verbs: string[] }[]>>;
  /** Flags of the provider, by their names on the command line without dashes. */
  flags?: Readonly<Record<string, string | boolean | readonly string[]>>;
  /** Absent: the vendor has routes. `local`: it has none; the local cloud's own provider makes those of pods, in the place of an overlay network. */
  routes?: 'local';
}

/** The network of a cluster, as far as a vendor's configuration names it. */
export interface EmulatedNetwork {
  cluster: string;
  vpcId: string;
  subnetIds: readonly string[];
  routeTableId: string;
  securityGroupId: string;
}

export interface Emulator {
  /** The answer to one whose headers alone say that they may not ask, before anybody waits for a body. */
  checkHead?(head: EmulatedHead): EmulatedAnswer | undefined;
  /** Never rejects: what goes wrong is an answer in the vendor's words. */
  answer(request: EmulatedRequest): Promise<EmulatedAnswer>;
  /** Writes keys and configuration for a manager of a cluster. `url`: where the API answers. */
  setUpManager(network: EmulatedNetwork, url: string): Promise<ManagerSetup>;
}

export interface EmulatorDefinition {
  /** `private-dns-name`: a Node must have the private DNS name of its instance as its name, or its manager does not find it. */
  readonly nodeNames: 'any' | 'private-dns-name';
  /** Nodes have public addresses whatever else is asked for, as all machines of the vendor have. */
  readonly publicAddresses?: boolean;
  /** What the vendor's manager looks for at everything that is a cluster's. */
  tagsOf(cluster: string): Readonly<Record<string, string>>;
  open(context: EmulatorContext): Promise<Emulator>;
}
