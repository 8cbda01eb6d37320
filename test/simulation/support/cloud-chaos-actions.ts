// What users do to a cluster, and the world to its machines, while its cloud fails.
import type { Node, Service } from '#api/core/v1';
import { loadBalancerCleanupFinalizer } from '#cloud-provider';
import type { CloudChaos } from './cloud-chaos.ts';
import type { SimulatedProcess } from './process.ts';

export interface ChaosSize {
  services: number;
  nodes: number;
}

const excludeLabel = 'node.kubernetes.io/exclude-from-external-load-balancers';
const foreignClass = 'example.com/other';

type Action = (chaos: CloudChaos, size: ChaosSize) => unknown;

/** One port or two. Where a cloud takes no Service of several protocols, both have the same. */
function portsOf({ rng, cloud }: CloudChaos): object[] {
  const ports = [0, 1].map(() => ({
    port: 1 + rng.int(60_000),
    protocol: rng.int(4) || cloud.lacks?.includes('UDP') ? 'TCP' : 'UDP',
  }));
  const [first] = ports;
  return ports.slice(rng.int(2)).map((port, index) => ({
    ...port,
    ...(!cloud.mixedProtocols && first && { protocol: first.protocol }),
    name: `p${index}`,
  }));
}

export async function createService(chaos: CloudChaos, { services }: ChaosSize): Promise<void> {
  const existing = (await chaos.services()).length;
  chaos.servicesPeak = Math.max(chaos.servicesPeak, existing);
  if (existing >= services) return deleteService(chaos);
  const type = chaos.rng.int(8) === 0 ? 'ClusterIP' : 'LoadBalancer';
  // Names come back, as another object.
  await chaos.serviceClient().create({
    metadata: { name: `web-${chaos.rng.int(services * 2)}` },
    spec: { type, selector: { app: 'x' }, ports: [{ port: 80 }] },
  });
  chaos.note('service created');
}

/** One that is not being deleted, of which `fits` holds. */
const someService = async (chaos: CloudChaos, fits: (service: Service) => boolean = () => true): Promise<Service | undefined> =>
  chaos.pick((await chaos.services()).filter((service) => !service.metadata.deletionTimestamp && fits(service)));

async function deleteService(chaos: CloudChaos): Promise<void> {
  const service = await someService(chaos);
  if (!service) return;
  await chaos.serviceClient().delete(service.metadata.name ?? '');
  chaos.note('service deleted');
}

/** The type, and with it the class, which may only be set then. */
function typeChange(chaos: CloudChaos, { metadata, spec }: Service): [string, object] {
  if (spec?.type === 'LoadBalancer') {
    const type = chaos.rng.int(3) === 0 ? 'NodePort' : 'ClusterIP';
    const none = {
      loadBalancerSourceRanges: null,
      loadBalancerClass: null,
      externalTrafficPolicy: type === 'NodePort' ? 'Cluster' : null,
    };
    return ['type', { spec: { type, ...none } }];
  }
  const isFree = !metadata.finalizers?.includes(loadBalancerCleanupFinalizer);
  const loadBalancerClass = isFree && chaos.rng.int(3) === 0 ? foreignClass : null;
  return [loadBalancerClass ? 'class' : 'type', { spec: { type: 'LoadBalancer', loadBalancerClass } }];
}

async function changeService(chaos: CloudChaos): Promise<void> {
  const service = await someService(chaos);
  if (!service) return;
  const { spec } = service;
  const { rng } = chaos;
  const externalTrafficPolicy = spec?.externalTrafficPolicy === 'Local' ? 'Cluster' : 'Local';
  const sessionAffinity = spec?.sessionAffinity === 'ClientIP' ? 'None' : 'ClientIP';
  const changes: [string, object][] = [
    ['ports', { spec: { ports: portsOf(chaos) } }],
    ['annotation', { metadata: { annotations: { version: `${rng.int(1e6)}` } } }],
    ['selector', { spec: { selector: { app: `x${rng.int(9)}` } } }],
    ...(chaos.cloud.lacks?.includes('affinity')
      ? []
      : [['affinity', { spec: { sessionAffinity, sessionAffinityConfig: null } }] satisfies [string, object]]),
    typeChange(chaos, service),
    ...chaos.cloud.annotations.map((annotations): [string, object] => [
      'annotation of the vendor',
      { metadata: { annotations } },
    ]),
    ...(spec?.type === 'LoadBalancer'
      ? ([
          ['policy', { spec: { externalTrafficPolicy } }],
          ['source ranges', { spec: { loadBalancerSourceRanges: [`10.${rng.int(256)}.0.0/16`] } }],
        ] satisfies [string, object][])
      : []),
  ];
  const [what, body] = chaos.pick(changes) ?? ['nothing', {}];
  await chaos.patchService(service.metadata.name ?? '', body);
  chaos.note(`service changed: ${what}`);
}

const nameOf = ({ metadata }: Node): string => metadata.name ?? '';
/** Its machine is there, too. */
const someNode = async (chaos: CloudChaos, fits: (node: Node) => boolean = () => true): Promise<string | undefined> => {
  const known = (await chaos.nodes()).filter((node) => !node.metadata.deletionTimestamp && fits(node));
  const node = chaos.pick(known);
  return node && nameOf(node);
};

function buyMachine(chaos: CloudChaos, { nodes }: ChaosSize): void {
  if (chaos.cloud.machines().length >= nodes) return;
  // Names of machines come back, too.
  const free = Array.from({ length: nodes * 2 }, (_, index) => `node-${index}`).filter((name) => !chaos.machine(name));
  chaos.buy(chaos.pick(free) ?? '');
  chaos.note('machine bought');
}
async function terminateMachine(chaos: CloudChaos, { nodes }: ChaosSize): Promise<void> {
  const name = await someNode(chaos);
  if (!name || !chaos.machine(name) || chaos.cloud.machines().length <= nodes / 2) return;
  chaos.cloud.terminate(name);
  chaos.reportLater(name);
  chaos.note('machine terminated');
}
/** Its power goes; for most it comes back. */
async function stopMachine(chaos: CloudChaos): Promise<void> {
  const name = await someNode(chaos);
  const machine = chaos.machine(name ?? '');
  if (!name || !machine?.running) return;
  chaos.cloud.setRunning(name, false);
  chaos.reportLater(name);
  chaos.note('machine stopped');
  if (chaos.rng.int(6) === 0) return;
  chaos.clock.setTimer(60_000 + chaos.rng.int(600_000), () => {
    if (chaos.machine(name)?.id !== machine.id) return;
    chaos.cloud.setRunning(name, true);
    chaos.reportLater(name, 30_000);
    chaos.note('machine started');
  });
}
async function readdressMachine(chaos: CloudChaos): Promise<void> {
  const machine = chaos.machine((await someNode(chaos)) ?? '');
  if (!machine) return;
  chaos.cloud.readdress(machine.name, `10.9.${chaos.rng.int(256)}.${chaos.rng.int(256)}`);
  chaos.note('machine got another address');
}
async function excludeNode(chaos: CloudChaos): Promise<void> {
  const name = await someNode(chaos);
  if (!name) return;
  const { metadata } = await chaos.nodeClient().get(name);
  await chaos.patchNode(name, { metadata: { labels: { [excludeLabel]: metadata.labels?.[excludeLabel] ? null : 'true' } } });
  chaos.note('node excluded or not');
}
/** Somebody deletes the Node of a machine that runs; its kubelet, started again, registers it. */
async function deleteNode(chaos: CloudChaos): Promise<void> {
  const name = await someNode(chaos);
  if (!name || !chaos.machine(name)?.running) return;
  await chaos.nodeClient().delete(name);
  chaos.clock.setTimer(15_000, () => void chaos.register(name));
  chaos.note('node deleted by hand');
}

function partition(chaos: CloudChaos, leader: SimulatedProcess): void {
  leader.partition();
  chaos.clock.setTimer(5_000 + chaos.rng.int(60_000), () => leader.heal());
  chaos.note('leader cut off');
}
const disturbances: readonly ((chaos: CloudChaos, leader: SimulatedProcess) => unknown)[] = [
  (chaos, leader) => chaos.doom(leader),
  (chaos, leader) => chaos.kill(leader),
  partition,
  (chaos, leader) => chaos.doom(leader),
  (chaos, leader) => void chaos.restart(leader),
  (chaos, leader) => chaos.kill(leader),
  (chaos, leader) => chaos.doom(leader),
  partition,
];
/** One after the other, so that a run has some of each. */
function disturbLeader(chaos: CloudChaos): void {
  const { leader } = chaos;
  if (leader) disturbances[chaos.disturbed++ % disturbances.length]?.(chaos, leader);
}
function dropWatches(chaos: CloudChaos): void {
  chaos.faults.dropWatches();
  chaos.note('watches dropped');
}

const actions: readonly [number, Action][] = [
  [30, createService],
  [16, deleteService],
  [24, changeService],
  [5, buyMachine],
  [2, terminateMachine],
  [3, stopMachine],
  [1, readdressMachine],
  [2, excludeNode],
  [1, deleteNode],
  [4, disturbLeader],
  [3, dropWatches],
];
const total = actions.reduce((sum, [weight]) => sum + weight, 0);

/** One thing that users or the world do. Rejects when somebody else was faster. */
export async function act(chaos: CloudChaos, size: ChaosSize): Promise<void> {
  let dice = chaos.rng.int(total);
  for (const [weight, action] of actions) {
    dice -= weight;
    if (dice >= 0) continue;
    await action(chaos, size);
    return;
  }
}
