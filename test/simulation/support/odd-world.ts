// A whole cluster for odd objects: control plane, cloud and nodes, and over TLS the name server, the proxy and the agent of network policies that run
// on nodes. It notes what any of them complains about, and tells by a canary whether each still does its work.
import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as realTime } from 'node:timers/promises';
import { parseYaml } from '#apimachinery/codec';
import {
  clientConfigOf,
  createClient,
  createEventRecorder,
  createInformerFactory,
  createRestTransport,
  type InformerFactory,
  type KubeClient,
  type Kubeconfig,
} from '#client';
import { runDns } from '#dns';
import { runKubeProxy } from '#kube-proxy';
import { runNetworkPolicy } from '#network-policy';
import { type ClusterSnapshot, startCluster, type TestCluster, type VirtualClock, virtualClock } from '#testing';
import { type Exec, type Logger, type Rng, seededRng } from '#utils';

const stepMs = 1000;
const dayMs = 86_400_000;
const nodes = { group: '', version: 'v1', resource: 'nodes' };
/** What no component may say, whatever it read. */
const bug =
  /\b(TypeError|RangeError|ReferenceError|SyntaxError|AssertionError)\b|Cannot read propert|is not iterable|is not a function/;
const thrown = /^(event handler failed|index failed|event not turned into keys)$/;
const ruleLine = /^(#|\*(nat|filter)$|COMMIT$|:[\w-]+ - \[0:0\]$|-[AXID] [\w-]+( |$))/;

export interface OddWorld {
  readonly cluster: TestCluster;
  readonly clock: VirtualClock;
  /** What a component threw or said that only a bug says. */
  readonly complaints: readonly string[];
  /** The rules that kube-proxy wrote last and lately. */
  rules(): string;
  resolve(name: string): Promise<string[]>;
  /** Virtual time passes, and real time for what comes over sockets. */
  pass(ms: number): Promise<void>;
  until(holds: () => Promise<boolean>, limitMs: number): Promise<void>;
  stop(): Promise<void>;
}

function recorder(complaints: string[]): Logger {
  const note = (message: string, values: Record<string, unknown> = {}): void => {
    const text = `${message} ${Object.values(values).map(String).join(' ')}`;
    if (thrown.test(message) || bug.test(text)) complaints.push(text);
  };
  const of = (component: string): Logger => ({
    error: (message, values) => note(message, { component, ...values }),
    warn: (message, values) => note(message, { component, ...values }),
    info: (message, values) => note(message, { component, ...values }),
    debug() {},
    with: (values) => of(`${component} ${Object.values(values).map(String).join(' ')}`),
  });
  return of('');
}

/** A kernel that takes rules only line by line as iptables-restore reads them, and remembers them. */
function fakeIptables(written: string[], complaints: string[]): Exec {
  return (command, args, { input = '' } = {}) => {
    const text = String(input);
    if (command === 'iptables-restore') {
      const bad = text.split('\n').find((line) => line !== '' && !ruleLine.test(line));
      if (bad !== undefined) complaints.push(`kube-proxy wrote a line that is no rule: ${bad}`);
      written.push(text);
    }
    return Promise.resolve({ code: 0, stdout: args.includes('--version') ? 'iptables v1.8.9 (nf_tables)' : '', stderr: '' });
  };
}

interface Deps {
  clock: VirtualClock;
  rng: Rng;
  logger: Logger;
}

/** The name server as it runs on a node. */
async function nameServer(informers: InformerFactory, clock: VirtualClock): Promise<{ resolver: Resolver; close(): void }> {
  const udp = createSocket('udp4').bind(0, '127.0.0.1');
  const tcp = createServer().listen(0, '127.0.0.1');
  await Promise.all([once(udp, 'listening'), once(tcp, 'listening')]);
  const server = runDns({ sockets: { udp, tcp }, informers, clock, domain: 'cluster.local', upstreams: [] });
  const resolver = new Resolver({ tries: 1, timeout: 2000 });
  resolver.setServers([`127.0.0.1:${(udp.address() as AddressInfo).port}`]);
  return { resolver, close: () => server.close() };
}

const wireClient = (cluster: TestCluster, clock: VirtualClock): KubeClient =>
  createClient(
    createRestTransport({
      config: clientConfigOf(parseYaml(cluster.kubeconfig).value as Kubeconfig),
      clock,
      userAgent: 'odd-world',
    }),
  );

async function onTheWire(cluster: TestCluster, deps: Deps, written: string[], complaints: string[]) {
  const client = wireClient(cluster, deps.clock);
  const informers = createInformerFactory({ ...deps, client });
  const names = await nameServer(informers, deps.clock);
  const exec = fakeIptables(written, complaints);
  const recorderOf = (component: string) => createEventRecorder({ ...deps, client, component, host: 'node-1' });
  const proxy = await runKubeProxy(
    { nodeName: 'node-1', healthzPort: 0 },
    { ...deps, informers, exec, recorder: recorderOf('kube-proxy') },
  );
  const policies = runNetworkPolicy('node-1', {
    ...{ ...deps, informers, exec, recorder: recorderOf('network-policy') },
    seeBridgedPackets: () => Promise.resolve(),
  });
  informers.start();
  return {
    resolver: names.resolver,
    async stop() {
      informers.stop();
      names.close();
      await proxy.stop();
      await policies.stop();
      client.close();
    },
  };
}

/** `from`: a cluster that starts anew over what another has stored. */
export async function startOddWorld(seed: number, from?: ClusterSnapshot): Promise<OddWorld> {
  const complaints: string[] = [];
  const written: string[] = [];
  // Certificates are of today.
  const clock = virtualClock({ startMs: Date.now() + (from ? dayMs : 0) });
  const deps: Deps = { clock, rng: seededRng(seed), logger: recorder(complaints) };
  const cluster = await startCluster({ ...deps, ...(from ? { from } : { nodes: 2 }) });
  for (const name of cluster.nodes.names()) {
    const labels = { 'canary.example.com/here': 'yes' };
    await cluster.client
      .resource(nodes)
      .patch(name, 'application/merge-patch+json', { metadata: { labels } })
      .catch(() => {});
  }
  const outside = await onTheWire(cluster, deps, written, complaints);
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += stepMs) {
      await clock.advance(stepMs);
      await realTime(1);
    }
  };
  return {
    cluster,
    clock,
    complaints,
    rules: () => written.slice(-50).join('\n'),
    resolve: (name) => outside.resolver.resolve4(name).catch(() => []),
    pass,
    async until(holds, limitMs) {
      const endMs = clock.now() + limitMs;
      while (!(await holds())) {
        if (clock.now() >= endMs) throw new Error(`not within ${limitMs / 1000} s of virtual time`);
        await pass(stepMs);
      }
    },
    async stop() {
      await outside.stop();
      await cluster.stop();
    },
  };
}
