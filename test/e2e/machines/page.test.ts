// docs/several-machines.md followed literally: each of its commands is typed on the machine that the page names, in the order of the page. Minutes long, so
// it runs on request: SAGONG_PAGE=1.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Computer } from '../cluster/computer.ts';
import { binary, eventually } from '../cluster/harness.ts';
import * as kit from './kit.ts';
import { bootWorld, type TestMachine, type TestWorld } from './machine-world.ts';
import { type Block, blocksOf, Printed } from './page.ts';

const page = readFileSync(resolve(binary, '..', '..', 'docs', 'several-machines.md'), 'utf8');
const blocks = blocksOf(page);
const local = blocks.filter(({ machines }) => machines.includes('computer'));
const story = blocks.filter(({ machines }) => machines.length > 0 && !machines.includes('computer'));
const requested = process.env['SAGONG_PAGE'] !== undefined;

const onWorker = JSON.stringify({ spec: { nodeName: 'worker', terminationGracePeriodSeconds: 0 } });

const grouped = (all: readonly Block[]): [string, Block[]][] =>
  [...new Set(all.map(({ section }) => section))].map((section) => [section, all.filter((block) => block.section === section)]);

test('every command of the page is typed somewhere, or the page says why not', () => {
  const typed = story.concat(local).flatMap(({ commands }) => commands);
  for (const command of ['up', 'join', 'leave', 'stop', 'down', 'token create', 'node drain', 'node remove', 'snapshot restore'])
    expect(typed.some((line) => line.startsWith(`sagong ${command}`))).toBe(true);
  const untyped = blocks.filter(({ machines }) => machines.length === 0).map(({ section }) => section);
  expect(untyped).toEqual(['The service']);
});

describe.skipIf(!requested)('on three machines', { timeout: 600_000 }, () => {
  let world: TestWorld;
  const printed = new Printed();
  beforeAll(async () => {
    world = await bootWorld({ worker: true });
    untouched = await traces(world.first);
  });
  afterAll(() => world?.destroy());

  /** Nodes alone, which run on while control planes are restored and come and go. */
  const workers: string[] = [];
  const nodesReady = (...names: string[]) =>
    kit.nodesReady(() => world.first.type('kubectl get nodes --no-headers'), [...names, ...workers]);
  const joinWorker = async (): Promise<void> => {
    const said = await world.first.type('sagong token create --print-join-command');
    await world.worker?.type(`${/^sagong join .*$/m.exec(said)?.[0]} --detach`);
    workers.push('worker');
  };
  /** A kubelet that hears nothing any more starts nothing. */
  const workerStarts = async (pod: string): Promise<void> => {
    await world.first.type(`kubectl run ${pod} --image=registry.k8s.io/pause:3.10 --overrides='${onWorker}'`);
    await world.first.type(`kubectl wait --for=condition=PodReadyToStartContainers pod/${pod} --timeout=60s`);
  };
  const keep = (name: string) => world.first.type(`kubectl create configmap ${name}`);
  const kept = async (): Promise<string[]> => {
    const names = await world.first.type('kubectl get configmaps -o name');
    return ['before', 'after'].filter((name) => names.includes(`configmap/${name}\n`));
  };
  const traces = async (machine: TestMachine): Promise<string[]> => {
    const looks = [
      'ls -A ~/.sagong 2>/dev/null',
      'ip -4 route show proto 83',
      'ip -o link show type bridge; ip -o link show type vxlan',
      'iptables-save | grep -iE "sagong|kube|cni"',
      'nft list tables | grep -iE "sagong|kube"',
      'grep -E "sagong|kubelet|cni" /proc/mounts | grep -v "^tmpfs /root "',
      'ls /var/run/netns /run/netns 2>/dev/null',
      'ls /etc/cni/net.d /var/lib/cni /var/lib/kubelet /var/log/pods /var/log/containers 2>/dev/null',
      'find /sys/fs/cgroup -maxdepth 3 -name "sagong-*"',
      'ps -eo stat=,args= | grep -v "^Z" | grep -E "[c]ontainerd|[s]agong|[e]tcd"',
    ];
    const found = [];
    for (const look of looks) found.push((await machine.sh(`HOME=/root; { ${look}; } || true`)).replace(programs, ''));
    return found;
  };
  /** What a machine shows before anything has run on it: of the machine that the test runs on. */
  let untouched: string[] = [];
  const nothingLeft = async (machine: TestMachine): Promise<void> => expect(await traces(machine)).toEqual(untouched);
  /** Where this package lies is no trace of a cluster. */
  const programs = new RegExp(`^.*${resolve(binary, '..', '..')} .*\n`, 'gm');

  /** What happens to machines before somebody turns to a section. */
  const before: Record<string, () => Promise<unknown>> = {
    'A machine that is gone for good': () => world.replaceFar(),
    'A backup of one control plane': async () => {
      await joinWorker();
      await keep('before');
    },
    'A control plane that is dead': () => world.replaceFar(),
  };
  /** What is true when a section has been followed. */
  const after: Record<string, () => Promise<unknown>> = {
    'The first machine': () => nodesReady('first'),
    'Every other machine': () => nodesReady('first', 'near', 'far'),
    'Stop, start, leave': () => nodesReady('first', 'near', 'far'),
    'A machine that leaves': async () => {
      await nodesReady('first', 'far');
      await nothingLeft(world.near);
    },
    'A machine that is gone for good': async () => {
      await nodesReady('first');
      expect(await world.first.type('kubectl get leases -n kube-node-lease -o name')).toBe('lease.coordination.k8s.io/first\n');
    },
    'A backup of one control plane': async () => {
      await nodesReady('first');
      expect(await kept()).toEqual(['before']);
      await workerStarts('after-store');
    },
    'More control planes': () => nodesReady('first', 'near', 'far'),
    'A backup of etcd': () => keep('after'),
    'A control plane that is dead': async () => {
      await nodesReady('first', 'near', 'far');
      expect(await kept()).toEqual(['before', 'after']);
    },
    'Restore etcd': async () => {
      await nodesReady('first', 'near', 'far');
      expect(await kept()).toEqual(['before']);
      await workerStarts('after-etcd');
      await world.worker?.type('sagong leave');
      workers.pop();
    },
    Upgrades: () => nodesReady('first', 'near', 'far'),
    'The end': async () => {
      for (const machine of [world.first, world.near, world.far]) await nothingLeft(machine);
    },
  };

  for (const [section, typed] of grouped(story))
    test(section, async () => {
      await before[section]?.();
      for (const { machines, commands } of typed)
        for (const name of machines)
          for (const command of commands) printed.read(await world[name as 'first' | 'near' | 'far'].type(printed.put(command)));
      await after[section]?.();
    });
});

describe.skipIf(!requested)('on one computer', { timeout: 600_000 }, () => {
  let computer: Computer;
  beforeAll(async () => {
    computer = await Computer.create();
  });
  afterAll(() => computer?.destroy(), 120_000);
  const type = (command: string): Promise<string> => computer.type(command);
  for (const [section, typed] of grouped(local))
    test(section, async () => {
      for (const { commands } of typed) for (const command of commands) await type(command);
      await eventually(
        'all apiservers are ready',
        async () => (await type('sagong status')).match(/ healthy$/gm)?.length === 3,
        120_000,
      );
      expect(await type('kubectl get nodes')).toMatch(/node-2 +Ready/);
    });
});
