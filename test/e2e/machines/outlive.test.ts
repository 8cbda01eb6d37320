// A worker outlives the control plane by which it joined: that one is cut off, paused and at last gone for ever, with its member of etcd, and pods start on
// the worker soon all the same. Minutes long, so it runs on request: SAGONG_OUTLIVE=1.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../cluster/harness.ts';
import { bootWorld, type TestMachine, type TestWorld } from './machine-world.ts';

const joined = '/root/.sagong/machine';
const boundMs = 20_000;
let world: TestWorld;
let worker: TestMachine;

const pod = (name: string): string => `
apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  nodeName: worker
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: 0
  containers: [{name: main, image: registry.k8s.io/pause:3.10, imagePullPolicy: Never}]
`;

/** At a control plane that lives. */
const there = (command: string): Promise<string> => world.near.type(`kubectl --kubeconfig ${joined}/kubeconfig ${command}`);

/** How long it takes until the worker runs a pod that is made now. */
async function started(name: string): Promise<number> {
  const beganMs = performance.now();
  await eventually('the pod is taken', async () => {
    const { code } = await world.near.runWith(pod(name), 'kubectl', '--kubeconfig', `${joined}/kubeconfig`, 'apply', '-f', '-');
    return code === 0;
  });
  await eventually(
    `the worker runs ${name}`,
    async () =>
      /True/.test(
        await there(`get pod ${name} -o jsonpath='{.status.conditions[?(@.type=="PodReadyToStartContainers")].status}'`),
      ),
    90_000,
  );
  return Math.round(performance.now() - beganMs);
}

const pids = async (machine: TestMachine): Promise<string[]> =>
  (await machine.sh('ps -eo pid=,args= | grep -E "[s]agong.mjs|[e]tcd --" | awk \'{print $1}\'')).trim().split('\n');

async function through(name: string, fail: () => Promise<unknown>, mend: () => Promise<unknown>): Promise<void> {
  await fail();
  const tookMs = await started(name);
  console.info(`${name}: a pod was started on the worker after ${tookMs} ms`);
  await mend();
  expect(tookMs).toBeLessThan(boundMs);
}

describe.skipIf(process.env['SAGONG_OUTLIVE'] === undefined)('a worker', { timeout: 400_000 }, () => {
  beforeAll(async () => {
    world = await bootWorld({ worker: true });
    worker = world.worker as TestMachine;
    await world.first.type('sagong up --advertise-address 10.50.1.1 --control-planes 1 --detach');
    const key = (await world.first.type('sagong certs upload')).trim();
    const plain = (await world.first.type('sagong token create --print-join-command')).trim();
    for (const machine of [world.near, world.far])
      await machine.type(`${plain} --control-plane --certificate-key ${key} --detach`);
    await worker.type(`${plain} --detach`);
    await eventually(
      'it knows all apiservers',
      async () => (await worker.sh(`grep -o 10.50 ${joined}/apiservers.json | wc -l`)).trim() === '3',
      60_000,
    );
    await started('before');
  }, 400_000);
  afterAll(() => world?.destroy());

  test('goes on when that one is cut off', () =>
    through(
      'cut-off',
      () => world.first.sh('ip link set eth0 down'),
      () => world.first.sh('ip link set eth0 up && ip route add default via 10.50.1.254'),
    ));

  test('goes on when it is paused', async () => {
    const all = await pids(world.first);
    await through(
      'paused',
      () => world.first.sh(`kill -STOP ${all.join(' ')}`),
      () => world.first.sh(`kill -CONT ${all.join(' ')}`),
    );
  });

  test('goes on when it is gone for good, and so it does after a restart of its own', async () => {
    await through(
      'killed',
      () => world.first.destroy(),
      async () => {},
    );
    await world.near.type(`sagong node remove first --data-dir ${joined}`);
    await worker.type(`sagong stop --data-dir ${joined}`);
    // What the cluster decides for all machines is learned from another one, too.
    await there('patch cm sagong-config -n kube-system -p \'{"data":{"networkPolicy":"none"}}\'');
    await worker.type('sagong join --detach');
    expect(JSON.parse(await worker.sh(`cat ${joined}/machine.json`))).toMatchObject({ networkPolicy: 'none' });
    await started('restarted');
    expect(await there('get nodes -o name')).toBe('node/far\nnode/near\nnode/worker\n');
    await worker.type('sagong leave');
    expect(await there('get nodes -o name')).toBe('node/far\nnode/near\n');
  });
});
