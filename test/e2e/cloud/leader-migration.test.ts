// The guide of docs/cloud.md from a cluster without a cloud-controller-manager to one with it, typed block by block: who runs the loops is always one of two
// managers, and a Service gets its load balancer when they have moved. Runs on request: SAGONG_MIGRATION=1.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Computer } from '../cluster/computer.ts';
import { binary, eventually } from '../cluster/harness.ts';
import { blocksOf } from '../machines/page.ts';

const section = 'From a cluster without a manager to one with it';
const page = readFileSync(resolve(binary, '..', '..', 'docs', 'cloud.md'), 'utf8');
const blocks = blocksOf(new RegExp(`^### ${section}$[^]*?(?=^##)`, 'm').exec(page)?.[0] ?? '');

test('the guide has its steps', () => {
  expect(blocks).toHaveLength(5);
  expect(blocks.every(({ machines }) => machines.join() === 'computer')).toBe(true);
});

describe.skipIf(!process.env['SAGONG_MIGRATION'])('the guide', { timeout: 300_000 }, () => {
  let computer: Computer;
  beforeAll(async () => {
    computer = await Computer.create();
  });
  afterAll(async () => {
    await computer.type('kill $(cat manager.pid) || true');
    await computer.destroy();
  }, 120_000);

  const typed = async (step: number): Promise<void> => {
    for (const command of blocks[step]?.commands ?? []) await computer.type(command);
  };
  const ask = (words: string): Promise<string> => computer.type(`kubectl get ${words}`);
  const holder = async (lease: string): Promise<string> =>
    (await ask(`lease -n kube-system ${lease} -o jsonpath={.spec.holderIdentity}`)).replace(/_.*/, '');
  const migration = 'cloud-provider-extraction-migration';
  const taints = (): Promise<string> => ask("nodes -o jsonpath='{.items[*].spec.taints[*].key}'");
  const address = (): Promise<string> => ask('service web -o jsonpath={.status.loadBalancer.ingress[0].ip}');

  test('begins without a manager', async () => {
    await typed(0);
    expect(await taints()).toContain('node.cloudprovider.kubernetes.io/uninitialized');
    expect(await address()).toBe('');
  });

  test('has kube-controller-manager lead what migrates', async () => {
    await typed(1);
    await eventually('it leads', async () => (await holder(migration)) === (await holder('kube-controller-manager')));
    expect(await holder(migration)).toBe('control-plane-1');
  });

  test('starts the manager, which initialises nodes and waits with the rest', async () => {
    await typed(2);
    await eventually('the node is initialised', async () => !(await taints()).includes('uninitialized'));
    expect(await holder('cloud-controller-manager')).not.toBe('control-plane-1');
    expect(await holder(migration)).toBe('control-plane-1');
    expect(await address()).toBe('');
    expect(await taints()).toContain('node.kubernetes.io/network-unavailable');
  });

  test('moves the loops', async () => {
    await typed(3);
    await eventually('the Service has a load balancer', async () => /^198\./.test(await address()), 120_000);
    expect(await holder(migration)).toBe(await holder('cloud-controller-manager'));
    await eventually('the node has a route', async () => !(await taints()).includes('network-unavailable'));
  });

  test('ends the migration', async () => {
    const before = await address();
    await typed(4);
    await eventually('it leads', async () => (await holder('cloud-controller-manager')) !== '');
    expect(await address()).toBe(before);
    await computer.type('kubectl create service loadbalancer later --tcp 80');
    await eventually('another Service has a load balancer', async () =>
      /^198\./.test(await ask('service later -o jsonpath={.status.loadBalancer.ingress[0].ip}')),
    );
  });
});
