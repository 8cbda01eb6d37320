// The name server and kube-proxy of a node, as the node's agent runs them: an error that nobody caught restarts that one after a pause, what it did
// before goes on, and afterwards it does its work as ever.
import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as realTime } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Service } from '#api/core/v1';
import { parseYaml } from '#apimachinery/codec';
import {
  clientConfigOf,
  createClient,
  createEventRecorder,
  createInformerFactory,
  createRestTransport,
  type KubeClient,
  type Kubeconfig,
} from '#client';
import { type Running, Supervisor } from '#component-base/failures';
import { runDns } from '#dns';
import { runKubeProxy } from '#kube-proxy';
import { startCluster, type TestCluster } from '#testing';
import { type Exec, seededRng, silentLogger } from '#utils';
import { type How, SabotagedClock, takeListeners } from './sabotage.ts';

let undo = (): void => {};
beforeEach(() => {
  undo = takeListeners();
});
afterEach(() => undo());

const endpoints = { group: '', version: 'v1', resource: 'services' };
const service = (name: string): Service => ({ metadata: { name }, spec: { ports: [{ port: 80 }], selector: { app: name } } });

function world(cluster: TestCluster, clock: SabotagedClock) {
  const deps = { clock, rng: seededRng(1), logger: silentLogger };
  const config = clientConfigOf(parseYaml(cluster.kubeconfig).value as Kubeconfig);
  const clients: KubeClient[] = [];
  const client = (): KubeClient => {
    const made = createClient(createRestTransport({ config, clock, userAgent: 'node' }));
    clients.push(made);
    return made;
  };
  const written: string[] = [];
  const exec: Exec = (command, args, { input = '' } = {}) => {
    if (command === 'iptables-restore') written.push(String(input));
    return Promise.resolve({ code: 0, stdout: args.includes('--version') ? 'iptables v1.8.9 (nf_tables)' : '', stderr: '' });
  };
  const resolver = new Resolver({ tries: 1, timeout: 2_000 });
  const starts: Record<string, () => Promise<Running>> = {
    async 'kube-proxy'() {
      const mine = client();
      const informers = createInformerFactory({ ...deps, client: mine });
      const recorder = createEventRecorder({ ...deps, client: mine, component: 'kube-proxy', host: 'node-1' });
      const proxy = await runKubeProxy(
        { nodeName: 'node-1', healthzPort: 0, metricsPort: 0 },
        { ...deps, informers, exec, recorder },
      );
      informers.start();
      return {
        async stop() {
          informers.stop();
          await proxy.stop();
        },
      };
    },
    async coredns() {
      const udp = createSocket('udp4').bind(0, '127.0.0.1');
      const tcp = createServer().listen(0, '127.0.0.1');
      await Promise.all([once(udp, 'listening'), once(tcp, 'listening')]);
      const informers = createInformerFactory({ ...deps, client: client() });
      const names = runDns({ sockets: { udp, tcp }, informers, clock, domain: 'cluster.local', upstreams: [] });
      informers.start();
      resolver.setServers([`127.0.0.1:${(udp.address() as AddressInfo).port}`]);
      return {
        stop() {
          informers.stop();
          names.close();
        },
      };
    },
  };
  const knows: Record<string, (name: string, address: string) => Promise<boolean>> = {
    'kube-proxy': (_name, address) => Promise.resolve(written.some((rules) => rules.includes(address))),
    coredns: (name, address) =>
      resolver.resolve4(`${name}.default.svc.cluster.local`).then(
        (addresses) => addresses.includes(address),
        () => false,
      ),
  };
  return {
    starts,
    knows,
    close: () => {
      for (const one of clients) one.close();
    },
  };
}

async function passUntil(clock: SabotagedClock, what: string, holds: () => Promise<boolean> | boolean, poke = async () => {}) {
  for (let rounds = 0; !(await holds()); rounds++) {
    if (rounds > 600) throw new Error(`not in time: ${what}`);
    await poke();
    await clock.advance(200);
    await realTime(2);
  }
}

it.each<[string, How]>([
  ['kube-proxy', 'throws'],
  ['kube-proxy', 'rejects'],
  ['coredns', 'throws'],
  ['coredns', 'rejects'],
])('%s %s: it is started again, the other goes on', { timeout: 120_000 }, async (name, how) => {
  // Certificates are of today.
  const clock = new SabotagedClock(Date.now());
  await using cluster = await startCluster({ nodes: 0, clock });
  const client = cluster.client.resource<Service>(endpoints, 'default');
  const { starts, knows, close } = world(cluster, clock);
  const supervisor = new Supervisor({ clock, logger: silentLogger });
  try {
    const running = Object.entries(starts).map(([one, start]) => supervisor.run(one, start, { retryFirst: true }));
    await passUntil(clock, 'both run', () => supervisor.status().filter(({ state }) => state === 'running').length === 2);
    await Promise.all(running);
    const bothKnow = async (made: Service): Promise<void> => {
      const { metadata, spec } = await client.create(made);
      for (const [one, know] of Object.entries(knows))
        await passUntil(clock, `${one} knows ${metadata.name}`, () => know(metadata.name ?? '', spec?.clusterIP ?? ''));
    };
    await bothKnow(service('before'));
    clock.sabotage(name, how);
    await passUntil(
      clock,
      `${name} has failed`,
      () => supervisor.failures.length > 0,
      () => Promise.resolve(void cluster.faults.dropWatches({ users: ['*'] })),
    );
    expect(supervisor.failures).toMatchObject([{ component: name, kind: 'stray', message: `sabotage of ${name}` }]);
    const told = supervisor.healthChecks().find((check) => check.name === `component/${name}`);
    expect(told?.informative).toBe(true);
    await passUntil(clock, `${name} is back`, () => supervisor.status().every(({ state }) => state === 'running'));
    const restarts = supervisor.status().map(({ component, restarts: count }) => [component, count]);
    expect(Object.fromEntries(restarts)).toEqual({ 'kube-proxy': 0, coredns: 0, [name]: 1 });
    await bothKnow(service('after'));
    expect(cluster.failures).toEqual([]);
  } finally {
    await supervisor.stop();
    close();
  }
});
