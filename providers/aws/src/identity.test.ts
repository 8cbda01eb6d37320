import { describe, expect, it } from 'vitest';
import type { Service } from 'sagong/cloud-provider';
import { serviceKey } from 'sagong/cloud-provider/kit';
import { sourceHeaders } from './assumed-role.ts';
import type { GlobalConfig } from './config/schema.ts';
import { configuredIdentity, regionOf } from './identity.ts';
import { networkGroupName, targetGroupName } from './naming.ts';
import { clusterNamed, clusterOfTags, inCluster, missingTags, ownedByCluster, ownedTags, type Tag } from './tags.ts';

const cluster = { id: 'prod', legacy: false };
const tag = (Key: string, Value = ''): Tag => ({ Key, Value });

describe('where the cluster lives', () => {
  const given = (Global: Partial<GlobalConfig>) => ({ Global: Global as GlobalConfig, ServiceOverride: {} });
  const metadata = { region: () => Promise.resolve('from-metadata'), instanceId: () => Promise.resolve('i-1') };
  it('needs no questions when the configuration is complete', () => {
    const complete = { VPC: 'vpc-1', SubnetID: 'subnet-1', KubernetesClusterID: 'prod' };
    expect(configuredIdentity(given(complete), 'r')).toEqual({ region: 'r', vpcId: 'vpc-1', subnetId: 'subnet-1', cluster });
    expect(configuredIdentity(given({ VPC: 'v', RoleARN: 'arn', KubernetesClusterTag: 'prod' }), 'r')?.cluster.legacy).toBe(true);
    expect(configuredIdentity(given({ VPC: 'v', KubernetesClusterID: 'prod' }), 'r')).toBeUndefined();
    expect(configuredIdentity(given({ ...complete, KubernetesClusterID: undefined }), 'r')).toBeUndefined();
  });
  it('takes the region from zone, field or metadata service, in this order', async () => {
    expect(await regionOf(given({ Zone: 'eu-west-1b', Region: 'x' }), metadata)).toBe('eu-west-1');
    expect(await regionOf(given({ Region: 'x' }), metadata)).toBe('x');
    expect(await regionOf(given({}), metadata)).toBe('from-metadata');
  });
  it('says on whose behalf a role is assumed', () => {
    const arn = 'arn:aws:eks:eu-west-1:123456789012:cluster/prod';
    expect(sourceHeaders(arn)).toEqual({ 'x-amz-source-arn': arn, 'x-amz-source-account': '123456789012' });
    expect(() => sourceHeaders('prod')).toThrow('not an ARN');
  });
});

describe('tags', () => {
  it.each<[string, Tag[], boolean, boolean]>([
    ['owned', [tag('kubernetes.io/cluster/prod', 'owned')], true, true],
    ['shared', [tag('kubernetes.io/cluster/prod', 'shared')], true, false],
    ["another cluster's", [tag('kubernetes.io/cluster/test', 'owned')], false, false],
    ['of the old kind', [tag('KubernetesCluster', 'prod')], true, true],
    ["of the old kind, another cluster's", [tag('KubernetesCluster', 'test')], false, false],
    ['none', [], false, false],
  ])('%s', (_what, tags, member, owned) => {
    expect(inCluster(cluster, tags)).toBe(member);
    expect(ownedByCluster(cluster, tags)).toBe(owned);
  });
  it('of new resources', () => {
    expect(ownedTags(cluster, { team: 'blue' })).toEqual([tag('team', 'blue'), tag('kubernetes.io/cluster/prod', 'owned')]);
    expect(ownedTags({ ...cluster, legacy: true })).toContainEqual(tag('KubernetesCluster', 'prod'));
  });
  it('are repaired, unless somebody else has the resource', () => {
    const wanted = ownedTags(cluster);
    expect(missingTags('sg-1', wanted, [])).toEqual(wanted);
    expect(missingTags('sg-1', wanted, wanted)).toEqual([]);
    expect(() => missingTags('sg-1', wanted, [tag('kubernetes.io/cluster/prod', 'shared')])).toThrow(
      'resource "sg-1" has tag belonging to another cluster',
    );
  });
  it('tell the cluster of an instance', () => {
    expect(clusterOfTags([tag('kubernetes.io/cluster/prod', 'owned')])).toEqual(cluster);
    expect(clusterOfTags([tag('KubernetesCluster', 'prod')])).toEqual({ id: 'prod', legacy: true });
    const two = [tag('kubernetes.io/cluster/a'), tag('kubernetes.io/cluster/b')];
    expect(() => clusterOfTags(two)).toThrow('Found multiple cluster tags');
    expect(() => clusterOfTags([])).toThrow('failed to find ClusterID');
    expect(() => clusterNamed('a', 'b')).toThrow('did not match');
  });
});

describe('names, as cloud-provider-aws makes them', () => {
  const service: Service = { metadata: { name: 'web', namespace: 'shop', uid: 'uid-1' } };
  const identity = { port: 80, nodePort: 30_080, protocol: 'TCP', healthProtocol: 'TCP', healthIntervalSeconds: 30 };
  it('of target groups', () => {
    expect(targetGroupName('kubernetes', service, identity)).toBe('k8s-shop-web-92931cdd5a');
    const longer: Service = { metadata: { name: 'a-very-long-name', namespace: 'kube-system-too' } };
    expect(targetGroupName('kubernetes', longer, identity)).toMatch(/^k8s-kubesyst-averylon-[0-9a-f]{10}$/);
  });
  it('of security groups', () => expect(networkGroupName('kubernetes', service)).toBe('k8s-shop-web-17187a319d'));
  it('of Services', () => expect(serviceKey(service)).toBe('shop/web'));
});
