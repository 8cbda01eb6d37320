// The vendor's own manager for AWS (k8s.io/cloud-provider-aws) and ours, one after the other on the same emulated AWS with the same Services: what the
// one makes the other takes over without a change, and from nothing both make the same. Skipped unless SAGONG_UPSTREAM_BIN names a folder with
// `aws-cloud-controller-manager` (build.sh), and without a build.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Node, Service } from '#api/core/v1';
import { listAll } from '#cloud/client';
import { startCluster, type TestCluster } from '#testing';
import { type EmulatedAws, emulatedAws } from '../../component/emulators/aws-world.ts';
import { eventually } from '../../e2e/cluster/harness.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const ours = process.env['SAGONG_BINARY'] ?? join(root, 'bin', 'sagong.mjs');
const upstream = join(process.env['SAGONG_UPSTREAM_BIN'] ?? '', 'aws-cloud-controller-manager');
const canRun =
  process.env['SAGONG_UPSTREAM_BIN'] !== undefined && existsSync(upstream) && existsSync(join(root, 'dist', 'sagong.cjs'));

const core = (resource: string) => ({ group: '', version: 'v1', resource });
const prefix = 'service.beta.kubernetes.io/aws-load-balancer-';
const timeoutMs = 60_000;
/** Nothing asked of AWS for so long: a manager has done what it has to do. */
const quietMs = 4_000;

interface Wanted {
  annotations?: Record<string, string>;
  spec?: Partial<Service['spec']>;
}
const wanted: Readonly<Record<string, Wanted>> = {
  plain: {},
  ranges: { spec: { loadBalancerSourceRanges: ['10.0.0.0/8', '192.0.2.0/24'] } },
  local: { spec: { externalTrafficPolicy: 'Local' } },
  internal: { annotations: { internal: 'true' } },
  proxied: { annotations: { 'proxy-protocol': '*' } },
  tuned: {
    annotations: {
      'connection-idle-timeout': '120',
      'cross-zone-load-balancing-enabled': 'true',
      'connection-draining-enabled': 'true',
      'connection-draining-timeout': '30',
      'additional-resource-tags': 'team=blue,env=test',
      'healthcheck-interval': '20',
    },
  },
  ports: { spec: { ports: [80, 443, 8443].map((port) => ({ name: `p${port}`, port, protocol: 'TCP' })) } },
  net: { annotations: { type: 'nlb' } },
  'net-ranges': { annotations: { type: 'nlb' }, spec: { loadBalancerSourceRanges: ['10.0.0.0/8'] } },
  'net-udp': { annotations: { type: 'nlb' }, spec: { ports: [{ port: 53, protocol: 'UDP' }] } },
  'net-local': { annotations: { type: 'nlb' }, spec: { externalTrafficPolicy: 'Local' } },
  'net-internal': { annotations: { type: 'nlb', internal: 'true', 'cross-zone-load-balancing-enabled': 'true' } },
};
const serviceOf = (name: string, { annotations = {}, spec }: Wanted): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {
    name,
    namespace: 'default',
    annotations: Object.fromEntries(Object.entries(annotations).map(([key, value]) => [prefix + key, value])),
  },
  spec: { type: 'LoadBalancer', selector: { app: name }, ports: [{ port: 80, protocol: 'TCP' }], ...spec },
});

describe.skipIf(!canRun)(
  "the vendor's manager and ours on the emulated AWS (skipped without SAGONG_UPSTREAM_BIN and a build)",
  () => {
    let dir: string;
    let aws: EmulatedAws;
    let cluster: TestCluster;
    let manager: ChildProcess | undefined;
    let log = '';
    /** Of those that have reached the cloud. */
    const lastCall = (): string => aws.memory.calls()[0]?.requestId ?? '';
    const services = () => cluster.client.resource<Service>(core('services'), 'default');
    const nodes = () => cluster.client.resource<Node>(core('nodes'));

    async function start(who: 'ours' | 'upstream'): Promise<void> {
      const flags = ['--cloud-provider=aws', `--cloud-config=${aws.setup.configFile}`, `--kubeconfig=${join(dir, 'kubeconfig')}`];
      flags.push('--cluster-name=kubernetes', '--cluster-cidr=10.244.0.0/16', '--leader-elect=false', '--secure-port=0');
      flags.push('--allocate-node-cidrs=false', '--configure-cloud-routes=true');
      log = '';
      const [program, args] =
        who === 'ours'
          ? [process.execPath, [ours, 'cloud-controller-manager', ...flags]]
          : [upstream, [...flags, '--webhook-secure-port=0']];
      manager = spawn(program, args, { env: { ...process.env, ...aws.setup.env }, cwd: dir });
      for (const stream of [manager.stdout, manager.stderr]) stream?.on('data', (chunk: Buffer) => (log += chunk.toString()));
    }
    async function stop(): Promise<void> {
      const running = manager;
      manager = undefined;
      if (!running || running.exitCode !== null) return;
      running.kill('SIGTERM');
      await once(running, 'exit');
    }
    /** Until every Service has a name, and the manager leaves AWS alone. */
    async function settled(): Promise<void> {
      const said = (): string => log.split('\n').slice(-15).join('\n');
      await eventually(
        'a name for every Service',
        async () => {
          if (manager?.exitCode !== null) throw new Error(`the manager has ended: ${said()}`);
          const all = (await services().list()).items.filter(({ spec }) => spec?.type === 'LoadBalancer');
          const without = all.filter(({ status }) => !status?.loadBalancer?.ingress?.[0]?.hostname);
          if (without.length > 0) throw new Error(`${without.map(({ metadata }) => metadata.name).join(', ')}: ${said()}`);
          return true;
        },
        timeoutMs,
      );
      await quiet();
    }
    /** A manager that takes over asks for each load balancer once. */
    async function quiet(): Promise<void> {
      let [calls, sinceMs] = ['', Date.now()];
      await eventually(
        'silence at AWS',
        async () => {
          const last = lastCall();
          if (last !== calls) [calls, sinceMs] = [last, Date.now()];
          return Date.now() - sinceMs > quietMs;
        },
        timeoutMs,
      );
    }
    /** Everything there is, without what is new each time: ids, hashes, node ports. */
    async function snapshot(): Promise<unknown> {
      const all = (await services().list()).items;
      const cloud = aws.memory.client();
      const factsText = await readFile(join(dirname(aws.setup.configFile), 'facts.json'), 'utf8');
      const world = {
        // Their keys hold ids.
        facts: Object.values(JSON.parse(factsText) as object).map((each) => Object.values(each as object) as unknown[]),
        balancers: (await listAll((page) => cloud.listLoadBalancers(page))).map(({ createdAt: _, address: __, ...one }) => one),
        groups: (await listAll((page) => cloud.listSecurityGroups(page))).map(({ createdAt: _, ...one }) => one),
        routes: (await listAll((page) => cloud.listRouteTables(page))).map(({ routes }) => routes),
        names: (await listAll((page) => cloud.listDnsZones(page))).flatMap(({ records }) => records.map(({ name }) => name)),
        status: all.map(({ metadata, status }) => [metadata.name, status]),
      };
      return sorted(JSON.parse(anonymous(JSON.stringify(world), all)));
    }
    function anonymous(text: string, all: readonly Service[]): string {
      let plain = text;
      let port = 70_000;
      for (const { metadata, spec } of all) {
        const { name = '', uid = '' } = metadata;
        plain = plain
          .replaceAll(`a${uid.replaceAll('-', '')}`.slice(0, 32), `balancer-of-${name}`)
          .replaceAll(uid, `uid-of-${name}`);
        const ports = [...(spec?.ports ?? []).map(({ nodePort }) => nodePort), spec?.healthCheckNodePort];
        for (const nodePort of ports) if (nodePort) plain = plain.replaceAll(String(nodePort), String(++port));
      }
      return plain
        .replace(/\b(lb|sg|vpc|subnet|rtb)-[0-9a-f]{8}\b/g, '$1')
        .replace(/\bk8s-default-\w+-[0-9a-f]{10}\b/g, 'k8s-group')
        .replace(/(local-1\.elb|elb\.local-1)\.amazonaws/g, '$1')
        .replace(/(balancer-of-[a-z-]+?)-[0-9a-f]{10,16}\b/g, '$1')
        .replace(/\/[0-9a-f]{16}\b/g, '/id')
        .replace(/10\.96\.\d+\.\d+/g, 'ip');
    }

    beforeAll(async () => {
      dir = await mkdtemp(join(tmpdir(), 'sagong-aws-managers-'));
      aws = await emulatedAws();
      cluster = await startCluster({ nodes: 0, cloud: false });
      await writeFile(join(dir, 'kubeconfig'), cluster.kubeconfig, { mode: 0o600 });
    });
    afterAll(async () => {
      await stop();
      await cluster?.stop();
      await aws?.close();
      await rm(dir, { recursive: true, force: true });
    });

    const taint = { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' as const };
    async function addNode(number: number): Promise<string> {
      await aws.addInstance(`machine-${number}`);
      const { privateDnsName } = await aws.memory
        .client()
        .getInstance({ instanceId: aws.instances.get(`machine-${number}`) ?? '' });
      const podCIDR = `10.244.${number}.0/24`;
      const ready = { type: 'Ready', status: 'True' };
      await nodes().create({
        metadata: { name: privateDnsName },
        spec: { taints: [taint], podCIDR, podCIDRs: [podCIDR] },
        status: { conditions: [ready] },
      });
      return privateDnsName;
    }
    /** What a manager writes into a Node. */
    async function completed(name: string) {
      const node = await eventually(
        `${name} is complete`,
        async () => {
          const found = await nodes().get(name);
          const complete =
            found.spec?.providerID && found.status?.addresses && !found.spec.taints?.some(({ key }) => key === taint.key);
          return complete ? found : undefined;
        },
        timeoutMs,
      );
      const { labels } = node.metadata;
      const addresses = node.status?.addresses?.map(({ type }) => type);
      return {
        labels: Object.keys(labels ?? {}).sort(),
        addresses,
        provider: node.spec?.providerID?.replace(/[0-9a-f]{8}$/, ''),
      };
    }

    it('complete Nodes alike, and make a route for each', async () => {
      const seen: unknown[] = [];
      for (const [index, who] of (['upstream', 'ours'] as const).entries()) {
        await start(who);
        // Two zones in turn: the first and the third, the second and the fourth node.
        const [one, two] = [await addNode(index * 2 + 1), await addNode(index * 2 + 2)];
        seen.push([await completed(one), await completed(two)]);
        await eventually(
          'routes to both',
          async () => {
            const { items } = await aws.memory.client().listRouteTables();
            const routes = items.flatMap(({ routes: all }) => all.map(({ destination }) => destination));
            return [1, 2].every((number) => routes.includes(`10.244.${index * 2 + number}.0/24`));
          },
          timeoutMs,
        );
        await stop();
      }
      expect(seen[1]).toEqual(seen[0]);
    }, 240_000);

    const made: Record<string, unknown> = {};
    for (const [first, second] of [
      ['upstream', 'ours'],
      ['ours', 'upstream'],
    ] as const) {
      it(`${second} takes over from ${first} without a change`, async () => {
        await start(first);
        for (const [name, each] of Object.entries(wanted)) await services().create(serviceOf(name, each));
        await settled();
        made[first] = await snapshot();
        await stop();
        const before = lastCall();
        await start(second);
        await eventually('a word of the other manager', async () => lastCall() !== before, timeoutMs);
        await quiet();
        expect(await snapshot()).toEqual(made[first]);
      }, 240_000);

      it(`${second} deletes all that ${first} has made`, async () => {
        for (const name of Object.keys(wanted)) await services().delete(name);
        await eventually(
          'no Service is left',
          async () => (await services().list()).items.every(({ spec }) => spec?.type !== 'LoadBalancer'),
          timeoutMs,
        );
        expect(await aws.leftovers?.(), log.split('\n').slice(-10).join('\n')).toEqual([]);
        await stop();
      }, 240_000);
    }

    it('make the same from nothing', () => expect(made['ours']).toEqual(made['upstream']));
  },
);

/** Lists without an order of their own, in one. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted).sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, each]) => [key, sorted(each)] as const)
      .sort(([a], [b]) => a.localeCompare(b)),
  );
}
