// The whole way, as a user goes it: `sagong cloud-controller-manager --cloud-provider=aws` with a cloud-config in INI, against a cluster over TLS
// and moto over HTTP.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Node, Service } from '#api/core/v1';
import { isNotFound } from '#apimachinery/errors';
import { startCluster, type TestCluster } from '#testing';
import { freePort } from '../support/ports.ts';
import { elements, type Moto, pythonWithMoto, startMoto } from './aws-moto.ts';
import { type AwsWorld, awsWorld } from './aws-world.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const binary = process.env['SAGONG_BINARY'] ?? join(root, 'bin', 'sagong.mjs');
const built = existsSync(join(root, 'dist', 'sagong.cjs')) && existsSync(join(root, 'providers', 'aws', 'dist', 'index.js'));
const python = built ? await pythonWithMoto() : undefined;
const core = (resource: string) => ({ group: '', version: 'v1', resource });
const patience = { timeout: 60_000, interval: 100 };

const metricsAt = (port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path: '/metrics', rejectUnauthorized: false }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('end', () => resolve(body));
    })
      .on('error', reject)
      .end();
  });

describe.skipIf(python === undefined)('the manager on AWS (skipped without a build, python3 and PyPI)', () => {
  let dir: string;
  let moto: Moto;
  let world: AwsWorld;
  let cluster: TestCluster;
  let manager: ChildProcess;
  let log = '';
  let securePort = 0;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'sagong-aws-'));
    moto = await startMoto(python ?? '');
    world = await awsWorld(moto);
    cluster = await startCluster({ nodes: 0, cloud: false });
    await writeFile(join(dir, 'kubeconfig'), cluster.kubeconfig, { mode: 0o600 });
    await writeFile(join(dir, 'cloud.conf'), world.config);
    const flags = ['--cloud-provider=aws', '--cloud-config=cloud.conf', '--kubeconfig=kubeconfig'];
    const tagging = ['--controllers=*,tagging', '--tags=team=blue,env=test', '--resources=instance'];
    securePort = await freePort();
    flags.push(
      `--secure-port=${securePort}`,
      '--authorization-always-allow-paths=/metrics',
      '--cluster-cidr=10.244.0.0/16',
      ...tagging,
    );
    manager = spawn(process.execPath, [binary, 'cloud-controller-manager', ...flags], {
      cwd: dir,
      env: { ...process.env, AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' },
    });
    for (const stream of [manager.stdout, manager.stderr]) stream?.on('data', (chunk: Buffer) => (log += chunk.toString()));
  });
  afterAll(async () => {
    if (manager?.exitCode === null) {
      manager.kill('SIGTERM');
      await once(manager, 'exit');
    }
    await cluster?.stop();
    await moto?.stop();
    await rm(dir, { recursive: true, force: true });
  });

  it('initialises a Node, routes to its pods, and gives a Service a load balancer until it goes', async () => {
    await world.addInstance('first');
    const id = world.instances.get('first') ?? '';
    const nodes = cluster.client.resource<Node>(core('nodes'));
    const taint = { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' };
    await nodes.create({
      metadata: { name: id },
      spec: { taints: [taint], podCIDR: '10.244.1.0/24', podCIDRs: ['10.244.1.0/24'] },
    });
    await vi.waitFor(async () => {
      const { metadata, spec, status } = await nodes.get(id);
      expect(spec?.providerID, log).toBe(`aws:///us-east-1a/${id}`);
      expect(spec?.taints ?? []).not.toContainEqual(expect.objectContaining({ key: taint.key }));
      expect(metadata.labels).toMatchObject({
        'node.kubernetes.io/instance-type': 'm5.large',
        'topology.kubernetes.io/zone': 'us-east-1a',
        'topology.k8s.aws/zone-id': 'use1-az6',
      });
      expect(status?.addresses?.map(({ type }) => type)).toEqual(['InternalIP', 'InternalDNS', 'Hostname']);
    }, patience);
    await vi.waitFor(async () => {
      const tables = await moto.query('ec2', 'DescribeRouteTables', {
        'Filter.1.Name': 'vpc-id',
        'Filter.1.Value.1': world.vpcId,
      });
      expect(elements(tables, 'destinationCidrBlock'), log).toContain('10.244.1.0/24');
    }, patience);

    const services = cluster.client.resource<Service>(core('services'), 'default');
    const service = await services.create({
      metadata: { name: 'web' },
      spec: { type: 'LoadBalancer', selector: { app: 'web' }, ports: [{ port: 80 }] },
    });
    await vi.waitFor(async () => {
      const { status } = await services.get('web');
      expect(status?.loadBalancer?.ingress?.[0]?.hostname, log).toMatch(/^a[0-9a-f]{31}\.us-east-1\.elb\.amazonaws\.com$/);
    }, patience);
    expect(await world.backends?.(service)).toEqual(['first']);

    await services.delete('web');
    await vi.waitFor(
      () =>
        expect(
          services.get('web').then(() => false, isNotFound),
          log,
        ).resolves.toBe(true),
      patience,
    );
    expect(await world.leftovers?.()).toEqual([]);
  }, 240_000);

  it('tags the instance of a Node, tells it in metrics, and untags it when the Node goes', async () => {
    await world.addInstance('tagged');
    const id = world.instances.get('tagged') ?? '';
    const nodes = cluster.client.resource<Node>(core('nodes'));
    const tags = async (): Promise<string[]> => {
      const xml = await moto.query('ec2', 'DescribeTags', { 'Filter.1.Name': 'resource-id', 'Filter.1.Value.1': id });
      return elements(xml, 'key').toSorted();
    };
    const ready = { type: 'Ready', status: 'True' };
    await nodes.create({
      metadata: { name: id },
      spec: { providerID: `aws:///us-east-1a/${id}` },
      status: { conditions: [ready] },
    });
    await vi.waitFor(async () => {
      expect(await tags(), log).toEqual(['env', `kubernetes.io/cluster/${world.cluster}`, 'team']);
      expect((await nodes.get(id)).metadata.labels).toMatchObject({
        'k8s.io/cloud-provider-aws': '1710bd1d5f464aab62d48f925c9e76db',
      });
    }, patience);
    await nodes.delete(id);
    await vi.waitFor(async () => expect(await tags(), log).toEqual([`kubernetes.io/cluster/${world.cluster}`]), patience);
    const counted = [
      'cloudprovider_aws_api_request_duration_seconds_count{request="create_tags"}',
      'cloudprovider_aws_api_request_duration_seconds_count{request="delete_tags"}',
      'tagging_controller_inital_node_tagging_delay_seconds_count',
      'running_managed_controllers{name="tagging",manager="cloud-controller-manager"}',
      'service_controller_nodesync_latency_seconds_count',
    ];
    await vi.waitFor(async () => {
      const lines = (await metricsAt(securePort)).split('\n');
      const positive = counted.filter((name) => lines.some((line) => line.startsWith(`${name} `) && !line.endsWith(' 0')));
      expect(positive).toEqual(counted);
    }, patience);
    expect(log).not.toContain('ExperimentalWarning');
  });
});
