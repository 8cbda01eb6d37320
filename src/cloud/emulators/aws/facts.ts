// What AWS knows of load balancers beyond the local cloud: kept in one file. What both know (instances, addresses, tags of a load balancer, who is
// healthy) is asked of the local cloud. Changes go one after the other, and are kept only when the local cloud has done its part.
import { join } from 'node:path';
import { atomicWrite, readFileIfExists } from '#host';
import { deepCopy, deepEqual } from '#utils';

export interface ClassicListener {
  protocol: string;
  port: number;
  instanceProtocol: string;
  instancePort: number;
  policies: string[];
}
export interface ClassicHealthCheck {
  target: string;
  interval: number;
  timeout: number;
  unhealthyThreshold: number;
  healthyThreshold: number;
}
export interface ClassicPolicy {
  name: string;
  type: string;
  attributes: { name: string; value: string }[];
}
export interface ClassicFacts {
  name: string;
  /** The id of the load balancer in the local cloud. */
  localId: string;
  dnsName: string;
  subnets: string[];
  securityGroups: string[];
  listeners: ClassicListener[];
  healthCheck: ClassicHealthCheck;
  policies: ClassicPolicy[];
  /** Policies by the port of instances. */
  backends: Record<string, string[]>;
  /** Attributes by name, such as `ConnectionSettings.IdleTimeout`. */
  attributes: Record<string, string>;
}

export interface NetworkListener {
  arn: string;
  protocol: string;
  port: number;
  targetGroupArn: string;
  tags: Record<string, string>;
}
export interface NetworkFacts {
  name: string;
  arn: string;
  localId: string;
  dnsName: string;
  subnets: string[];
  securityGroups: string[];
  listeners: NetworkListener[];
  attributes: Record<string, string>;
}
export interface TargetHealthCheck {
  protocol: string;
  /** A number, or `traffic-port`. */
  port: string;
  path?: string;
  interval: number;
  timeout: number;
  healthyThreshold: number;
  unhealthyThreshold: number;
}
export interface TargetGroupFacts {
  name: string;
  arn: string;
  vpcId: string;
  protocol: string;
  port: number;
  health: TargetHealthCheck;
  attributes: Record<string, string>;
  targets: { id: string; port: number }[];
  tags: Record<string, string>;
}

export interface Facts {
  version: 1;
  /** Classic load balancers by name. */
  classic: Record<string, ClassicFacts>;
  /** Network load balancers by ARN. */
  network: Record<string, NetworkFacts>;
  /** Target groups by ARN. */
  targetGroups: Record<string, TargetGroupFacts>;
}

const none: Facts = { version: 1, classic: {}, network: {}, targetGroups: {} };

function parsed(text: string, path: string): Facts | null {
  try {
    return JSON.parse(text) as Facts | null;
  } catch (error) {
    throw new Error(`${path} is not JSON: move it away to begin without load balancers`, { cause: error });
  }
}

export class FactStore {
  readonly #path: string;
  #facts: Facts;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(path: string, facts: Facts) {
    this.#path = path;
    this.#facts = facts;
  }
  /** Throws a sentence for a file that is not its own. */
  static async open(dir: string): Promise<FactStore> {
    const path = join(dir, 'facts.json');
    const text = (await readFileIfExists(path))?.toString('utf8');
    const facts = text === undefined ? none : parsed(text, path);
    if (facts?.version !== none.version) throw new Error(`${path} is of another version of this program`);
    return new FactStore(path, facts);
  }
  get now(): Readonly<Facts> {
    return this.#facts;
  }
  /** Runs one change at a time over a copy, which is kept when `work` succeeds and has changed something. */
  change<T>(work: (facts: Facts) => Promise<T>): Promise<T> {
    const turn = this.#last.then(async () => {
      const draft = deepCopy(this.#facts);
      const result = await work(draft);
      if (deepEqual(draft, this.#facts)) return result;
      await atomicWrite(this.#path, JSON.stringify(draft), { mode: 0o600 });
      this.#facts = draft;
      return result;
    });
    this.#last = turn.catch(() => {});
    return turn;
  }
}
