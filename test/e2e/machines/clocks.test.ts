// Machines whose clocks differ: by four minutes as nodes, by half a minute as control planes; they join, run pods, stay Ready and believe each other's
// certificates and tokens. What differs more is told so. Clocks are shifted by libfaketime (Debian package `libfaketime`); minutes long, so it runs on
// request: SAGONG_CLOCKS=1.
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../cluster/harness.ts';
import * as kit from './kit.ts';
import { bootWorld, libfaketime, type TestMachine, type TestWorld } from './machine-world.ts';

const requested = process.env['SAGONG_CLOCKS'] !== undefined && existsSync(libfaketime);
/** Longer than a node may be silent. */
const watchedMs = 60_000;
let world: TestWorld;

const kubectl = (words: string): Promise<string> => world.first.type(`kubectl ${words}`);
const nodesReady = (...names: string[]) => kit.nodesReady(() => kubectl('get nodes --no-headers'), names);
const pod = (node: string): string => `
apiVersion: v1
kind: Pod
metadata: {name: on-${node}}
spec:
  nodeName: ${node}
  terminationGracePeriodSeconds: 0
  containers: [{name: main, image: registry.k8s.io/pause:3.10, imagePullPolicy: Never}]
`;
/** A pod that is gone is explained by who took it. */
async function withStory(error: Error): Promise<never> {
  const told = await Promise.all(['get pods,nodes -A -o wide', 'get events -A -o wide'].map(kubectl));
  throw new Error([error.message, ...told].join('\n'), { cause: error });
}
async function runsPods(...nodes: string[]): Promise<void> {
  for (const node of nodes) {
    const { code, stderr } = await world.first.runWith(
      pod(node),
      'kubectl',
      '--kubeconfig',
      '/root/.kube/config',
      'apply',
      '-f',
      '-',
    );
    expect([code, stderr]).toEqual([0, '']);
    const isReady = `get pod on-${node} -o jsonpath='{.status.conditions[?(@.type=="PodReadyToStartContainers")].status}'`;
    await eventually(
      `${node} runs a pod with the volume of its token`,
      async () => (await kubectl(isReady)).includes('True'),
      60_000,
    ).catch(withStory);
    // The kubelet's serving certificate, asked for by one clock and signed by another.
    await eventually(`the kubelet of ${node} is believed`, async () =>
      (await kubectl(`get --raw /api/v1/nodes/${node}/proxy/healthz`)).includes('ok'),
    );
    await kubectl(`delete pod on-${node} --wait=false`);
  }
}
async function refused(machine: TestMachine, aheadSeconds: number, command: string): Promise<string> {
  machine.clockAheadSeconds = aheadSeconds;
  try {
    return await machine.type(command).then(
      () => 'it was not refused',
      (error: Error) => error.message,
    );
  } finally {
    machine.clockAheadSeconds = 0;
  }
}

describe.skipIf(!requested)('clocks that differ (skipped without SAGONG_CLOCKS and libfaketime)', { timeout: 600_000 }, () => {
  beforeAll(async () => {
    world = await bootWorld();
    // Shifted programs leave segments of shared memory behind, which otherwise are this machine's.
    for (const machine of [world.near, world.far]) await machine.sh('mount -t tmpfs -o mode=1777 tmpfs /dev/shm');
  });
  afterAll(() => world?.destroy());

  test('by minutes: machines are nodes all the same, and stay Ready', async () => {
    const { first, near, far } = world;
    await first.type('sagong up --advertise-address 10.50.1.1 --detach');
    const plain = (await first.type('sagong token create --ttl 1h --print-join-command')).trim();
    near.clockAheadSeconds = 240;
    far.clockAheadSeconds = -240;
    expect(Number(await near.type('date +%s')) - Number(await far.type('date +%s'))).toBeGreaterThan(470);
    for (const machine of [near, far]) await machine.type(`${plain} --detach`);
    await nodesReady('first', 'near', 'far');
    await runsPods('near', 'far');
    const since = performance.now();
    while (performance.now() - since < watchedMs) {
      expect((await kubectl('get nodes --no-headers')).match(/ Ready /g)).toHaveLength(3);
      await new Promise((resolve) => setTimeout(resolve, 2_000));
    }
    for (const machine of [near, far]) {
      await machine.type('sagong leave');
      machine.clockAheadSeconds = 0;
    }
  });

  test('by more than the certificates allow: who joins is told so at once', async () => {
    const plain = (await world.first.type('sagong token create --print-join-command')).trim();
    const since = performance.now();
    const said = await refused(world.near, -20 * 60, `${plain} --detach`);
    expect(said).toMatch(/by the clock of this machine \(.*\) the certificate of 10\.50\.1\.1:6443 is not valid yet/);
    expect(performance.now() - since).toBeLessThan(20_000);
  });

  test('by half a minute: control planes believe each other’s tokens; by two minutes one is refused', async () => {
    const { first, near, far } = world;
    await first.type('sagong stop');
    await first.type('sagong up --control-planes 1 --detach');
    const key = (await first.type('sagong certs upload')).trim();
    const plain = (await first.type('sagong token create --print-join-command')).trim();
    const join = `${plain} --control-plane --certificate-key ${key} --detach`;
    expect(await refused(near, 120, join)).toMatch(/the clock of this machine is 1[12]\d s ahead of the cluster's/);
    expect(await refused(far, -120, join)).toMatch(/the clock of this machine is 1[12]\d s behind the cluster's/);
    near.clockAheadSeconds = 25;
    far.clockAheadSeconds = -25;
    for (const machine of [near, far]) await machine.type(join);
    await nodesReady('first', 'near', 'far');
    const joined = 'kubectl --kubeconfig ~/.sagong/machine/kubeconfig';
    // Signed by one, asked of all.
    for (const signer of [near, far]) {
      const token = (await signer.type(`${joined} create token default --duration 10m`)).trim();
      for (const asked of ['10.50.1.1', '10.50.1.2', '10.50.2.1'])
        expect(
          await first.sh(`curl -sk -o /dev/null -w '%{http_code}' -H 'Authorization: Bearer ${token}' https://${asked}:6443/api`),
        ).toBe('200');
    }
    await runsPods('near', 'far');
    // Leases are as good as the time since they were seen to change: whoever leads is given up 15 s after it went, whatever its clock says.
    const holder = (): Promise<string> => kubectl('get lease -n kube-system kube-scheduler -o jsonpath={.spec.holderIdentity}');
    for (const machine of [near, far]) {
      await machine.type('sagong stop --data-dir ~/.sagong/machine');
      const gone = machine.name;
      await eventually('another one leads', async () => !(await holder()).startsWith(`${gone}_`), 60_000);
      await machine.type('sagong join --detach');
    }
    await nodesReady('first', 'near', 'far');
  });
});
