// A manager that dies in the middle of a change on the emulated AWS: what it had just taken out of use goes with the next one's call.
import {
  CreateTargetGroupCommand,
  DescribeTargetGroupsCommand,
  ElasticLoadBalancingV2Client,
} from '@aws-sdk/client-elastic-load-balancing-v2';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { LoadBalancer } from '#cloud-provider';
import { serviceNamed } from '../../../src/cloud/provider/test-support/fixtures.ts';
import { annotated, cluster, type EmulatedAws, emulatedAws, region } from './aws-world.ts';

let world: EmulatedAws;
let elbv2: ElasticLoadBalancingV2Client;
beforeAll(async () => {
  world = await emulatedAws();
  elbv2 = new ElasticLoadBalancingV2Client({ region, endpoint: world.server.url, credentials: world.key });
  await world.addInstance('a');
});
afterAll(async () => {
  elbv2?.destroy();
  await world?.close();
});

it('a target group that a change took out of use, and did not come to delete, goes with the next call', async () => {
  const balancers = world.cloud.loadBalancer as LoadBalancer;
  const service = annotated(serviceNamed('web', 1), { type: 'nlb' });
  await balancers.ensureLoadBalancer(cluster, service, [world.node('a')]);
  const namesOf = async () =>
    (await elbv2.send(new DescribeTargetGroupsCommand({}))).TargetGroups?.map((one) => one.TargetGroupName);
  const before = await namesOf();
  const { namespace, name } = service.metadata;
  const left = (Name: string, owner: string): CreateTargetGroupCommand =>
    new CreateTargetGroupCommand({
      Name,
      VpcId: world.vpcId,
      Port: 30_999,
      Protocol: 'TCP',
      TargetType: 'instance',
      Tags: [
        { Key: `kubernetes.io/cluster/${cluster}`, Value: 'owned' },
        { Key: 'kubernetes.io/service-name', Value: owner },
      ],
    });
  await elbv2.send(left(`k8s-${namespace}-${name}-0123456789`, `${namespace}/${name}`));
  await elbv2.send(left(`k8s-${namespace}-${name}-abcdef0123`, `${namespace}/another`));
  const next = (await world.secondProvider?.())?.loadBalancer as LoadBalancer;
  await next.ensureLoadBalancer(cluster, service, [world.node('a')]);
  expect((await namesOf())?.sort()).toEqual([...(before ?? []), `k8s-${namespace}-${name}-abcdef0123`].sort());
});
