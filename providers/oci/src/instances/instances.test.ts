import type { CloudProvider, InstancesV2, Node } from 'sagong/cloud-provider';
import { isInstanceNotFound } from 'sagong/cloud-provider';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openWorld, type TestWorld } from '../../test-server/world.ts';

let world: TestWorld;
let cloud: CloudProvider;
beforeEach(async () => {
  world = await openWorld();
  cloud = await world.open();
});
afterEach(() => world.server.close());

const instances = (): InstancesV2 => cloud.instancesV2 as InstancesV2;
const node = (
  name: string,
  providerID = '',
  labels: Record<string, string> = {},
  annotations: Record<string, string> = {},
): Node => ({
  metadata: { name, labels, annotations },
  spec: providerID === '' ? {} : { providerID },
});
const other = 'ocid1.compartment.oc1..other';

describe('a Node', () => {
  it('is known by its name, with shape, availability domain, fault domain and addresses', async () => {
    const { id, privateIp } = world.server.account.addInstance('node-a', { publicIp: '132.226.1.1', shape: 'VM.Standard3.Flex' });
    expect(await instances().instanceMetadata(node('node-a'))).toEqual({
      providerId: `oci://${id}`,
      instanceType: 'VM.Standard3.Flex',
      zone: 'PHX-AD-1',
      region: 'phx',
      additionalLabels: { 'oci.oraclecloud.com/fault-domain': 'FAULT-DOMAIN-2' },
      nodeAddresses: [
        { type: 'InternalIP', address: privateIp },
        { type: 'ExternalIP', address: '132.226.1.1' },
      ],
    });
  });
  it('has IPv6 addresses where it says that it has that family', async () => {
    world.server.account.addInstance('node-a', { ipv6Addresses: ['fd00::7', '2603:c020::7'] });
    const labels = { 'oci.oraclecloud.com/ip-family-ipv6': '' };
    const { nodeAddresses = [] } = (await instances().instanceMetadata(node('node-a', '', labels))) ?? {};
    expect(nodeAddresses.slice(1)).toEqual([
      { type: 'InternalIP', address: 'fd00::7' },
      { type: 'ExternalIP', address: '2603:c020::7' },
    ]);
    expect((await instances().instanceMetadata(node('node-a')))?.nodeAddresses).toHaveLength(1);
  });
  it.each(['oci://', ''])('is known by the OCID in its provider ID, after %j', async (scheme) => {
    const { id } = world.server.account.addInstance('node-a');
    expect((await instances().instanceMetadata(node('renamed', scheme + id)))?.providerId).toBe(`oci://${id}`);
  });
  it('is known by the host name or an address of its VNIC, and by no part of a name', async () => {
    const { id, privateIp } = world.server.account.addInstance('node-1', { displayName: 'a pretty name' });
    for (const name of ['node-1', 'node-1.sub.vcn.oraclevcn.com', privateIp])
      expect((await instances().instanceMetadata(node(name)))?.providerId).toBe(`oci://${id}`);
    await expect(instances().instanceMetadata(node('node-10'))).rejects.toSatisfy(isInstanceNotFound);
  });
  it('may be in another compartment, which its annotation names', async () => {
    const { id } = world.server.account.addInstance('node-a', { compartmentId: other });
    const annotated = node('node-a', '', {}, { 'oci.oraclecloud.com/compartment-id': other });
    expect((await instances().instanceMetadata(annotated))?.providerId).toBe(`oci://${id}`);
    expect(await instances().instanceExists(node('node-a'))).toBe(false);
  });
  it('with the name of two instances is neither', async () => {
    world.server.account.addInstance('node-a');
    world.server.account.addInstance('node-a');
    await expect(instances().instanceMetadata(node('node-a'))).rejects.toThrow(
      'too many instances returned for node name "node-a": 2',
    );
  });
  it('of another cloud is an error, so that nothing is concluded', async () => {
    await expect(instances().instanceExists(node('node-a', 'aws:///us-east-1a/i-1'))).rejects.toThrow('is not valid for oci');
  });
  it.each([
    ['RUNNING', true, false],
    ['STOPPING', true, true],
    ['STOPPED', true, true],
    ['STARTING', true, false],
    ['TERMINATING', false, undefined],
    ['TERMINATED', false, undefined],
  ])('whose instance is %s exists: %s, is shut down: %s', async (state, exists, shutdown) => {
    const { id } = world.server.account.addInstance('node-a');
    world.server.account.setState('node-a', state);
    expect(await instances().instanceExists(node('node-a', id))).toBe(exists);
    if (shutdown === undefined)
      await expect(instances().instanceShutdown(node('node-a', id))).rejects.toSatisfy(isInstanceNotFound);
    else expect(await instances().instanceShutdown(node('node-a', id))).toBe(shutdown);
  });
  it('exists for as long as a list does not prove that it does not', async () => {
    const { id } = world.server.account.addInstance('node-a');
    const { faults } = world.server;
    faults.add({ path: /\/instances\/ocid1/, status: 404, code: 'NotAuthorizedOrNotFound', times: 2 });
    expect(await instances().instanceExists(node('node-a', id))).toBe(true);
    faults.add({ path: '/20160918/instances', status: 404, code: 'NotAuthorizedOrNotFound' });
    await expect(instances().instanceExists(node('node-a', id))).rejects.toThrow('NotAuthorizedOrNotFound');
  });
});
