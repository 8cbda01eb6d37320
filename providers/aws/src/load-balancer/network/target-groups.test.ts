import { expect, it } from 'vitest';
import type { DescribeTagsCommand, DescribeTargetGroupsCommand } from '@aws-sdk/client-elastic-load-balancing-v2';
import type { Service } from 'sagong/cloud-provider';
import { serviceKey } from 'sagong/cloud-provider/kit';
import { manualClock } from 'sagong/cloud-provider/test-server';
import type { Api } from '../../clients.ts';
import type { Cloud } from '../../cloud.ts';
import { targetGroupPrefix } from '../../naming.ts';
import { clusterNamed, ownedTags, serviceTag } from '../../tags.ts';
import { allTargetGroups, targetGroupsOf } from './target-groups.ts';

it('target groups that no load balancer uses are looked for in one list of all for a while, unless a sync has failed', async () => {
  const service: Service = { metadata: { name: 'web', namespace: 'shop', uid: 'u' } };
  const cluster = clusterNamed(undefined, 'prod');
  const clock = manualClock();
  const there = [{ TargetGroupArn: 'used', TargetGroupName: `${targetGroupPrefix(service)}1`, LoadBalancerArns: ['lb'] }];
  const asked: string[] = [];
  const elbv2 = ({ input }: DescribeTargetGroupsCommand | DescribeTagsCommand) => {
    if ('ResourceArns' in input) {
      const Tags = ownedTags(cluster, { [serviceTag]: serviceKey(service) });
      return Promise.resolve({ TagDescriptions: input.ResourceArns?.map((ResourceArn) => ({ ResourceArn, Tags })) });
    }
    const arn = 'LoadBalancerArn' in input ? input.LoadBalancerArn : undefined;
    asked.push(arn ?? 'all');
    return Promise.resolve({ TargetGroups: there.filter(({ LoadBalancerArns }) => !arn || LoadBalancerArns.includes(arn)) });
  };
  const api = { elbv2 } as unknown as Api;
  const targetGroups = allTargetGroups(() => api, clock);
  const cloud = { api, identity: { cluster }, targetGroups } as unknown as Cloud;
  const found = async (): Promise<string> => {
    const { attached, loose } = await targetGroupsOf(cloud, service, 'lb');
    return [attached, loose].map((groups) => groups.map(({ TargetGroupArn }) => TargetGroupArn).join()).join(' + ');
  };
  expect([await found(), await found()]).toEqual(['used + ', 'used + ']);
  expect(asked).toEqual(['all', 'lb', 'lb']);
  there.push({ TargetGroupArn: 'left', TargetGroupName: `${targetGroupPrefix(service)}2`, LoadBalancerArns: [] });
  expect(await found()).toBe('used + ');
  targetGroups.forget();
  expect(await found()).toBe('used + left');
  there.pop();
  await clock.advance(30_000);
  expect(await found()).toBe('used + ');
});
