import { afterAll, beforeAll, expect, it } from 'vitest';
import { type MemoryCloud, memoryMachines, startMemoryCloud } from '#cloud/memory';
import { systemClock } from '#host';
import { seededRng, silentLogger } from '#utils';
import { ensureNetwork } from './network.ts';

let cloud: MemoryCloud;
beforeAll(async () => {
  const clock = systemClock();
  cloud = await startMemoryCloud(
    { region: 'r', zones: ['r-a'], publicCidr: '198.18.0.0/24', drivers: [memoryMachines({ clock })] },
    { clock, rng: seededRng(1), logger: silentLogger },
  );
});
afterAll(() => cloud.close());

it('lets members reach each other again where somebody has put other rules in the place of theirs', async () => {
  const api = cloud.client();
  const wanted = { cluster: 'c', internet: true };
  const { group } = await ensureNetwork(api, wanted);
  const securityGroupId = group.id;
  await api.revokeSecurityGroupIngress({ securityGroupId, rules: group.ingress });
  const own = { protocol: 'tcp' as const, fromPort: 22, toPort: 22, cidr: '0.0.0.0/0' };
  await api.authorizeSecurityGroupIngress({ securityGroupId, rules: [own] });
  const { ingress } = (await ensureNetwork(api, wanted)).group;
  expect(ingress).toMatchObject([own, { protocol: 'all', groupId: securityGroupId }]);
  expect((await ensureNetwork(api, wanted)).group.ingress).toEqual(ingress);
});
