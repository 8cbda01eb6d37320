// The same story of volumes told to upstream's attach-detach loop and to ours, on our apiserver: both must write the same attachments, promise
// nodes the same volumes at every step and tell pods the same. The test plays the drivers, the kubelets and the administrator.
import { describe, expect, it } from 'vitest';
import { eventually } from '../../e2e/cluster/harness.ts';
import { freePort } from '../../support/ports.ts';
import { Api, type Item } from './api.ts';
import { hasUpstream, type Maker, World } from './world.ts';

const core = '/api/v1';
const work = `${core}/namespaces/work`;
const storage = '/apis/storage.k8s.io/v1';
const driver = 'disks.example.com';
const loop = 'persistentvolume-attach-detach-controller';
const unique = (name: string): string => `kubernetes.io/csi/${driver}^handle-${name}`;

interface Attachment extends Item {
  metadata: Item['metadata'] & { deletionTimestamp?: string };
  spec: { nodeName: string; attacher: string; source: { persistentVolumeName?: string } };
  status: { attached?: boolean };
}
interface Step {
  attachments: unknown[];
  promised: Record<string, string[]>;
}

class Story {
  readonly #api: Api;
  readonly steps: Record<string, Step> = {};

  constructor(api: Api) {
    this.#api = api;
  }
  async attachments(): Promise<Attachment[]> {
    return (await this.#api.list(`${storage}/volumeattachments`)) as Attachment[];
  }
  async find(node: string, volume: string): Promise<Attachment | undefined> {
    return (await this.attachments()).find(({ spec }) => spec.nodeName === node && spec.source.persistentVolumeName === volume);
  }
  async promised(node: string): Promise<string[]> {
    const { status } = await this.#api.get(`${core}/nodes/${node}`);
    return ((status?.['volumesAttached'] ?? []) as { name: string }[]).map(({ name }) => name).sort();
  }
  async told(): Promise<string[]> {
    const events = await this.#api.list(`${work}/events`);
    return events
      .map(({ involvedObject, type, reason, message, source }) => {
        const { kind, name } = involvedObject as { kind: string; name: string };
        const { component } = source as { component: string };
        return `${component} on ${kind}/${name}: ${String(type)} ${String(reason)}: ${String(message)}`;
      })
      .sort();
  }
  status(path: string, status: object): Promise<Item> {
    return this.#api.patch(`${path}/status`, { status });
  }
  async makeNode(name: string): Promise<void> {
    const annotations = { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' };
    await this.#api.create(`${core}/nodes`, { metadata: { name, annotations } });
    await this.status(`${core}/nodes/${name}`, { conditions: [{ type: 'Ready', status: 'True' }] });
  }
  async makeVolume(name: string, of = driver, accessModes = ['ReadWriteOnce']): Promise<void> {
    const [capacity, resources] = [{ storage: '1Gi' }, { requests: { storage: '1Gi' } }];
    const claim = await this.#api.create(`${work}/persistentvolumeclaims`, {
      metadata: { name },
      spec: { accessModes, resources, volumeName: name, storageClassName: '' },
    });
    const claimRef = { namespace: 'work', name, uid: claim.metadata.uid };
    await this.#api.create(`${core}/persistentvolumes`, {
      metadata: { name },
      spec: { capacity, accessModes, claimRef, csi: { driver: of, volumeHandle: `handle-${name}` } },
    });
    await this.status(`${work}/persistentvolumeclaims/${name}`, { phase: 'Bound', accessModes, capacity });
  }
  makePod(name: string, nodeName: string, claimName: string): Promise<Item> {
    return this.#api.create(`${work}/pods`, {
      metadata: { name },
      spec: {
        nodeName,
        containers: [{ name: 'c', image: 'example.org/c:1' }],
        volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
      },
    });
  }
  removePod(name: string): Promise<unknown> {
    return this.#api.delete(`${work}/pods/${name}`, { gracePeriodSeconds: 0 });
  }
  mounted(node: string, ...names: string[]): Promise<Item> {
    return this.status(`${core}/nodes/${node}`, { volumesInUse: names.map(unique) });
  }
  taint(node: string, key: string): Promise<Item> {
    return this.#api.patch(`${core}/nodes/${node}`, { spec: { taints: [{ key, effect: 'NoExecute' }] } });
  }
  /** The driver does as asked. */
  async driverWorks(): Promise<void> {
    for (const { metadata } of await this.attachments()) {
      const path = `${storage}/volumeattachments/${metadata.name}`;
      const finalizers = metadata.deletionTimestamp ? null : [`external-attacher/${driver}`];
      await this.#api.patch(path, { metadata: { finalizers } });
      if (finalizers) await this.status(path, { attached: true });
    }
  }
  async driverFails(node: string, volume: string, message: string): Promise<void> {
    const found = await this.find(node, volume);
    await this.status(`${storage}/volumeattachments/${found?.metadata.name}`, { attachError: { message } });
  }
  /** Waits until it is so, then notes how everything is. */
  async when(what: string, probe: () => Promise<boolean>): Promise<void> {
    await eventually(what, probe, 60_000);
    const attachments = (await this.attachments()).map(({ metadata, spec, status }) => ({
      name: metadata.name,
      spec,
      attached: status.attached,
      isGoing: metadata.deletionTimestamp !== undefined,
    }));
    this.steps[what] = { attachments, promised: { a: await this.promised('a'), b: await this.promised('b') } };
  }
  async isGoing(node: string, volume: string): Promise<boolean> {
    return (await this.find(node, volume))?.metadata.deletionTimestamp !== undefined;
  }
}

async function tell(story: Story, api: Api): Promise<void> {
  for (const name of ['a', 'b']) await story.makeNode(name);
  await api.create(`${storage}/csidrivers`, { metadata: { name: 'files.example.com' }, spec: { attachRequired: false } });
  for (const name of ['disk', 'broken']) await story.makeVolume(name);
  await story.makeVolume('shared', driver, ['ReadWriteMany']);
  await story.makeVolume('files', 'files.example.com');
  await story.makePod('files', 'a', 'files');
  await story.makePod('web', 'a', 'disk');
  for (const node of ['a', 'b']) await story.makePod(`shared-${node}`, node, 'shared');
  await story.when('the driver is asked', async () => (await story.attachments()).length === 3);

  await story.driverWorks();
  await story.when(
    'nodes are promised their volumes',
    async () => (await story.promised('a')).length === 2 && (await story.promised('b')).length === 1,
  );

  await story.mounted('a', 'disk', 'shared');
  await story.makePod('late', 'b', 'disk');
  await story.when('a pod hears who has its volume', async () =>
    (await story.told()).some((line) => line.includes('Multi-Attach')),
  );

  await story.removePod('web');
  await story.mounted('a', 'shared');
  await story.when('an unused volume is let go', () => story.isGoing('a', 'disk'));
  await story.driverWorks();
  await story.when('the volume moves on', async () => (await story.find('b', 'disk')) !== undefined);
  await story.driverWorks();
  await story.when('it has arrived', async () => (await story.promised('b')).includes(unique('disk')));

  await story.makePod('unlucky', 'a', 'broken');
  await eventually('another attachment', async () => (await story.find('a', 'broken')) !== undefined);
  await story.driverFails('a', 'broken', 'no such disk');
  await story.when('a pod hears what is wrong', async () => (await story.told()).some((line) => line.includes('no such disk')));
  await story.removePod('unlucky');
  // Upstream's takes a volume for mounted until the node's status is next written.
  await api.patch(`${core}/nodes/a`, { metadata: { annotations: { heartbeat: '1' } } });
  await story.when('what never came is taken back', async () => (await story.find('a', 'broken')) === undefined);

  await story.mounted('b', 'disk');
  await story.status(`${core}/nodes/b`, { conditions: [{ type: 'Ready', status: 'Unknown' }] });
  await story.removePod('late');
  await story.when('a silent node keeps its volumes for now', async () => (await story.find('b', 'disk')) !== undefined);
  await story.taint('b', 'node.kubernetes.io/out-of-service');
  await story.when('a node out of service loses them', () => story.isGoing('b', 'disk'));
}

interface Heard {
  steps: Record<string, Step>;
  told: string[];
  counted: string[];
}

const counters = /^(attachdetach_controller_|attach_detach_controller_|storage_count_attachable_)[^\n]*/gm;

/** The counters once they have stood still for some seconds: upstream forgets a volume a while after its attachment has gone. */
async function settledCounters(manager: Api): Promise<string[]> {
  let counted: string[] = [];
  for (let still = 0; still < 8; still++) {
    const { text } = await manager.raw('GET', '/metrics');
    const now = [...(text.match(counters) ?? [])].sort();
    if (now.join() !== counted.join()) still = 0;
    counted = now;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
  return counted;
}

async function hear(maker: Maker): Promise<Heard> {
  const world = await World.create();
  try {
    const api = await world.startApiServer('sagong');
    await api.create(`${core}/namespaces`, { metadata: { name: 'work' } });
    await api.create(`${work}/serviceaccounts`, { metadata: { name: 'default' } });
    const port = await freePort();
    const kubeconfig = 'kube-controller-manager.kubeconfig';
    await world.startControllerManager(maker, api, [
      ...[`--controllers=${loop}`, `--secure-port=${port}`, '--bind-address=127.0.0.1'],
      ...[`--authentication-kubeconfig=${kubeconfig}`, `--authorization-kubeconfig=${kubeconfig}`],
    ]);
    const story = new Story(api);
    await tell(story, api).catch((error: unknown) => {
      throw new Error(`${maker}: ${String(error)}\n${world.log('kube-controller-manager').slice(-4000)}`);
    });
    const counted = await settledCounters(new Api(`https://127.0.0.1:${port}`, 'admin'));
    return { steps: story.steps, told: await story.told(), counted };
  } finally {
    await world.stop();
  }
}

const canRun = hasUpstream('kube-controller-manager');
const without = canRun ? '' : '(needs SAGONG_UPSTREAM_BIN, see build.sh)';

describe.skipIf(!canRun)(`volumes by upstream's attach-detach loop and by ours ${without}`, () => {
  it('have the same attachments, the same promises to nodes and the same events', async () => {
    const upstream = await hear('upstream');
    const ours = await hear('sagong');
    expect(ours.steps).toEqual(upstream.steps);
    expect(ours.told).toEqual(upstream.told);
    expect(ours.counted).toEqual(upstream.counted);
    expect(upstream.counted.length).toBeGreaterThan(3);
    expect(upstream.told.length).toBeGreaterThan(4);
  });
});
