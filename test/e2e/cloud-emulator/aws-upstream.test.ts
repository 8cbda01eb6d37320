// The vendor's own manager (k8s.io/cloud-provider-aws) on the emulated AWS of a cluster with real nodes. Skipped unless SAGONG_UPSTREAM_BIN names a
// folder with `aws-cloud-controller-manager` (test/interop/upstream/build.sh).
import { type ChildProcess, spawn } from 'node:child_process';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CloudWorld, patienceMs, podOf, reachable } from '../cloud/world.ts';
import { eventually } from '../cluster/harness.ts';

const program = join(process.env['SAGONG_UPSTREAM_BIN'] ?? '', 'aws-cloud-controller-manager');
const canRun = process.env['SAGONG_UPSTREAM_BIN'] !== undefined && existsSync(program);
const name = 'ip-10-77-0-11.local-1.compute.internal';
const annotation = 'service.beta.kubernetes.io/aws-load-balancer-type';

describe.skipIf(!canRun)("the vendor's manager on the emulated AWS (skipped without SAGONG_UPSTREAM_BIN)", () => {
  let world: CloudWorld;
  let manager: ChildProcess | undefined;
  let log = '';

  beforeAll(async () => {
    world = await CloudWorld.create(1, '--cloud-provider-emulator', 'aws', '--cloud-provider', 'external');
    const { dataDir } = world.cluster;
    const aws = join(dataDir, 'cloud', 'aws');
    const flags = [
      '--cloud-provider=aws',
      `--cloud-config=${join(aws, 'cloud.conf')}`,
      `--kubeconfig=${join(dataDir, 'kubeconfig')}`,
    ];
    flags.push('--cluster-name=sagong', '--cluster-cidr=10.244.0.0/16', '--allocate-node-cidrs=false', '--leader-elect=false');
    flags.push('--secure-port=0', '--webhook-secure-port=0');
    const keys = { AWS_SHARED_CREDENTIALS_FILE: join(aws, 'credentials'), AWS_CONFIG_FILE: join(aws, 'config') };
    manager = spawn(program, flags, { env: { ...process.env, ...keys }, cwd: world.cluster.home });
    for (const stream of [manager.stdout, manager.stderr]) stream?.on('data', (chunk: Buffer) => (log += chunk.toString()));
  });
  afterAll(async () => {
    if (manager?.exitCode === null) {
      manager.kill('SIGTERM');
      await once(manager, 'exit');
    }
    await world?.destroy();
  });

  it('completes the Node and routes to its pods', async () => {
    const spec = await eventually(
      `the Node is complete: ${log.slice(-500)}`,
      async () => {
        const node = await world.node(name);
        return node?.spec?.providerID && (node.spec.taints ?? []).length === 0 ? node.spec : undefined;
      },
      patienceMs,
    );
    expect(spec.providerID).toMatch(/^aws:\/\/\/local-1a\/i-[0-9a-f]{8}$/);
    const { items } = await world.api.listRouteTables({ main: 'true' });
    expect(items.flatMap(({ routes }) => routes.map(({ destination }) => destination))).toContain(spec.podCIDR);
  });

  it.each([
    ['classic', {}],
    ['network', { [annotation]: 'nlb' }],
  ])('gives a Service a %s load balancer that answers by its name', async (kind, annotations) => {
    await world.apply(
      world.backends('Deployment', kind, { replicas: 1 }),
      world.service(kind, {}, annotations as Record<string, string>),
    );
    const hostname = await eventually(
      'a name',
      async () => (await world.getService(kind)).status?.loadBalancer?.ingress?.[0]?.hostname,
      patienceMs,
    );
    const { address } = await world.balancer(kind);
    const resolver = new Resolver({ timeout: 2_000, tries: 3 });
    resolver.setServers([address.replace(/\d+$/, '2')]);
    expect(await resolver.resolve4(hostname)).toEqual([address]);
    expect(podOf(await reachable(address, 80, kind))).toMatch(new RegExp(`^${kind}-`));
    await world.kubectl('delete', 'service', kind, '--timeout', '55s');
    expect(await world.balancersOf(kind)).toEqual([]);
  });
});
