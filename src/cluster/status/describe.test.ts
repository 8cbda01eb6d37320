import { expect, it } from 'vitest';
import type { NetworkInterface } from '#cloud';
import { describedCluster, describedTable } from './describe.ts';

const card = (subnetId: string, createdAt: string) =>
  ({ subnetId, createdAt, vpcId: 'vpc-1', securityGroupIds: ['sg-1'] }) as Partial<NetworkInterface> as NetworkInterface;
const settings = { name: 'shop', dataDir: '/data', endpointAccess: 'public' as const };
const facts = {
  settings,
  interfaces: [card('subnet-b', '2026-05-01T00:00:02Z'), card('subnet-a', '2026-05-01T00:00:01Z')],
  ca: 'PEM',
};

it('describes a cluster in the form of managed services', () => {
  const { cluster } = describedCluster(facts);
  expect(cluster).toMatchObject({
    name: 'shop',
    createdAt: '2026-05-01T00:00:01Z',
    resourcesVpcConfig: {
      subnetIds: ['subnet-a', 'subnet-b'],
      securityGroupIds: [],
      clusterSecurityGroupId: 'sg-1',
      vpcId: 'vpc-1',
      endpointPublicAccess: true,
      endpointPrivateAccess: false,
      publicAccessCidrs: ['0.0.0.0/0'],
    },
    identity: { oidc: { issuer: 'https://kubernetes.default.svc.cluster.local' } },
    certificateAuthority: { data: Buffer.from('PEM').toString('base64') },
    status: 'ACTIVE',
    health: { issues: [] },
  });
  expect(
    describedCluster({ ...facts, settings: { ...settings, endpointAccess: 'private' } }).cluster.resourcesVpcConfig,
  ).toMatchObject({
    endpointPublicAccess: false,
    endpointPrivateAccess: true,
    publicAccessCidrs: [],
  });
});
it('tells every fact in a row, those in lists by their places', () => {
  const rows = describedTable(describedCluster(facts))
    .split('\n')
    .map((line) => line.trim().split(/  +/));
  expect(rows).toContainEqual(['resourcesVpcConfig.subnetIds', 'subnet-a,subnet-b']);
  expect(rows).toContainEqual(['logging.clusterLogging[0].enabled', 'false']);
  expect(rows).toContainEqual(['identity.oidc.issuer', 'https://kubernetes.default.svc.cluster.local']);
});
