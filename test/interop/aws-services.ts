// Services as users write them for AWS, and a world on moto for each test of a file.
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import type { Service } from '#api/core/v1';
import type { LoadBalancer, LoadBalancerStatus } from '#cloud-provider';
import { type Moto, startMoto } from './aws-moto.ts';
import { type AwsWorld, awsWorld, cluster } from './aws-world.ts';

const prefix = 'service.beta.kubernetes.io/aws-load-balancer-';
export const uid = '11112222-3333-4444-5555-666677778888';
/** What load balancers of the Service are called. */
export const name = 'a1111222233334444555566667777888';

export interface Given {
  spec?: Partial<Service['spec']>;
  annotations?: Record<string, string>;
  status?: LoadBalancerStatus;
}
export const service = ({ spec, annotations = {}, status = {} }: Given = {}): Service => ({
  metadata: {
    name: 'web',
    namespace: 'shop',
    uid,
    annotations: Object.fromEntries(Object.entries(annotations).map(([key, value]) => [prefix + key, value])),
  },
  spec: {
    type: 'LoadBalancer',
    sessionAffinity: 'None',
    externalTrafficPolicy: 'Cluster',
    ports: [
      { name: 'http', protocol: 'TCP', port: 80, nodePort: 30_080 },
      { name: 'https', protocol: 'TCP', port: 443, nodePort: 30_443 },
    ],
    ...spec,
  },
  status: { loadBalancer: status },
});

export interface OnMoto {
  readonly moto: Moto;
  readonly world: AwsWorld;
  readonly balancers: LoadBalancer;
  /** An empty account with two nodes, `a` and `b`, and more lines in `[Global]`. */
  open(more?: string): Promise<void>;
  /** The calls of one piece of work that change something. */
  changes(work: () => Promise<unknown>): Promise<string[]>;
  ensure(given?: Given, nodes?: Parameters<LoadBalancer['ensureLoadBalancer']>[2]): Promise<LoadBalancerStatus>;
  /** moto's description of a security group. */
  group(id: string): Promise<string>;
}

/** One moto for the tests of a file, and an account for each. */
export function onMoto(python: string | undefined): OnMoto {
  let moto: Moto;
  let world: AwsWorld;
  beforeAll(async () => {
    moto = await startMoto(python ?? '');
  });
  afterAll(() => moto?.stop());
  async function open(more = ''): Promise<void> {
    world = await awsWorld(moto, more);
    for (const node of ['a', 'b']) await world.addInstance(node);
    moto.calls.length = 0;
  }
  beforeEach(() => open());
  afterEach(() => {
    moto.calls.length = 0;
  });
  const balancers = (): LoadBalancer => world.cloud.loadBalancer as LoadBalancer;
  return {
    get moto() {
      return moto;
    },
    get world() {
      return world;
    },
    get balancers() {
      return balancers();
    },
    open,
    async changes(work) {
      const from = moto.calls.length;
      await work();
      return moto.calls.slice(from).filter((call) => !call.startsWith('Describe'));
    },
    ensure: (given = {}, nodes = [world.node('a'), world.node('b')]) =>
      balancers().ensureLoadBalancer(cluster, service(given), nodes),
    group: (id) => moto.query('ec2', 'DescribeSecurityGroups', { 'GroupId.1': id }),
  };
}
