// What Nodes, routes and the manager's own place do to AWS, against moto, with the calls that are made.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { isImplementedElsewhere, isInstanceNotFound, retryAfterOf } from '#cloud-provider';
import { element, pythonWithMoto } from './aws-moto.ts';
import { onMoto, service } from './aws-services.ts';
import { cluster, providerFrom } from './aws-world.ts';

const python = await pythonWithMoto();

describe.skipIf(python === undefined)('AWS, on moto (skipped without python3 and PyPI)', () => {
  const on = onMoto(python);
  it('leaves Services to the AWS Load Balancer Controller', async () => {
    for (const type of ['external', 'nlb-ip']) {
      const given = service({ annotations: { type } });
      await expect(on.balancers.ensureLoadBalancer(cluster, given, [])).rejects.toSatisfy(isImplementedElsewhere);
      await expect(on.balancers.updateLoadBalancer(cluster, given, [])).rejects.toSatisfy(isImplementedElsewhere);
      expect(await on.balancers.getLoadBalancer(cluster, given)).toBeUndefined();
      await on.balancers.ensureLoadBalancerDeleted(cluster, given);
    }
    expect(on.moto.calls).toEqual([]);
  });

  it('knows machines by private DNS name, with type, zone, addresses and zone id', async () => {
    const id = on.world.instances.get('a') ?? '';
    const xml = await on.moto.query('ec2', 'DescribeInstances', { 'InstanceId.1': id });
    const dns = element(xml, 'privateDnsName');
    const { instancesV2 } = on.world.cloud;
    expect(await instancesV2?.instanceMetadata({ metadata: { name: dns } })).toEqual({
      providerId: `aws:///us-east-1a/${id}`,
      instanceType: 'm5.large',
      nodeAddresses: [
        { type: 'InternalIP', address: element(xml, 'privateIpAddress') },
        { type: 'InternalDNS', address: dns },
        { type: 'Hostname', address: dns },
      ],
      zone: 'us-east-1a',
      region: 'us-east-1',
      additionalLabels: { 'topology.k8s.aws/zone-id': 'use1-az6' },
    });
    expect(await instancesV2?.instanceExists({ metadata: { name: `${id}.us-east-1.compute.internal` } })).toBe(true);
    await expect(instancesV2?.instanceMetadata({ metadata: { name: 'nobody' } })).rejects.toSatisfy(isInstanceNotFound);
  });
  it('asks for many machines at once, and alone only after one of them is unknown', async () => {
    const node = (id: string) => ({ metadata: { name: id }, spec: { providerID: `aws:///us-east-1a/${id}` } });
    const { instancesV2 } = on.world.cloud;
    const known = [...on.world.instances.values()];
    await Promise.all(known.map((id) => instancesV2?.instanceExists(node(id))));
    expect(on.moto.calls).toEqual(['DescribeInstances']);
    on.moto.calls.length = 0;
    const answers = await Promise.all([...known, 'i-0123456789abcdef0'].map((id) => instancesV2?.instanceExists(node(id))));
    expect(answers).toEqual([true, true, false]);
    expect(on.moto.calls).toHaveLength(4);
  });

  it('asks the controller to wait when AWS is asked too often', async () => {
    on.moto.failNext('DescribeInstances', 'RequestLimitExceeded', 3);
    const refused = await on.world.cloud.instancesV2?.instanceExists(on.world.node('a')).catch((error: unknown) => error);
    expect(retryAfterOf(refused)).toBeGreaterThanOrEqual(5_000);
    expect(on.moto.calls).toEqual(['DescribeInstances', 'DescribeInstances', 'DescribeInstances']);
  });
  it('finds out from its own instance where it runs, and assumes a role', async () => {
    const own = on.world.instances.get('a') ?? '';
    const answers: Record<string, string> = {
      'PUT /latest/api/token': 'token',
      'GET /latest/meta-data/placement/region': 'us-east-1',
      'GET /latest/meta-data/instance-id': own,
    };
    const metadata = createServer((request, response) => {
      const answer = answers[`${request.method} ${request.url}`];
      const allowed = request.method === 'PUT' || request.headers['x-aws-ec2-metadata-token'] === 'token';
      response.writeHead(answer !== undefined && allowed ? 200 : 401).end(answer);
    }).listen(0, '127.0.0.1');
    await once(metadata, 'listening');
    try {
      const override = (number: number, Service: string, URL: string): string =>
        `[ServiceOverride "${number}"]\nService = ${Service}\nRegion = us-east-1\nURL = ${URL}\nSigningRegion = us-east-1\n`;
      const { port } = metadata.address() as AddressInfo;
      const config = [
        '[Global]\nRoleARN = arn:aws:iam::123456789012:role/cloud\nSourceARN = arn:aws:eks:us-east-1:123456789012:cluster/prod\n',
        override(1, 'EC2', on.moto.url),
        override(2, 'STS', on.moto.url),
        override(3, 'ec2imds', `http://127.0.0.1:${port}`),
      ].join('');
      const cloud = await providerFrom(config);
      expect(cloud.hasClusterId()).toBe(true);
      expect(on.moto.calls).toEqual(['AssumeRole', 'DescribeInstances']);
      const node = { metadata: { name: own } };
      expect((await cloud.instancesV2?.instanceMetadata(node))?.region).toBe('us-east-1');
    } finally {
      metadata.closeAllConnections();
      metadata.close();
    }
  });

  it('replaces a route whose instance is gone', async () => {
    const { routes } = on.world.cloud;
    const route = (targetNode: string) => ({ name: '', targetNode, targetNodeAddresses: [], destinationCidr: '10.244.1.0/24' });
    expect(await on.changes(async () => routes?.createRoute(cluster, 'uid', route('a')))).toEqual([
      'ModifyInstanceAttribute',
      'CreateRoute',
    ]);
    expect(await routes?.listRoutes(cluster)).toEqual([{ ...route('a'), name: 'kubernetes-10.244.1.0/24' }]);
    const attribute = await on.moto.query('ec2', 'DescribeInstanceAttribute', {
      InstanceId: on.world.instances.get('a') ?? '',
      Attribute: 'sourceDestCheck',
    });
    expect(element(attribute, 'value')).toBe('false');
    await on.world.terminateInstance('a');
    expect(await routes?.listRoutes(cluster)).toMatchObject([{ targetNode: '', blackhole: true }]);
    await routes?.createRoute(cluster, 'uid', route('b'));
    expect(await routes?.listRoutes(cluster)).toEqual([{ ...route('b'), name: 'kubernetes-10.244.1.0/24' }]);
  });
});
