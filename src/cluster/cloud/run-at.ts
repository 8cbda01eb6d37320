// Instances have addresses that the cluster chooses: where somebody has one already, it is said who.
import type { Instance } from '#cloud';
import { CloudApiError, type CloudClient } from '#cloud/client';
import { clusterTag } from './network.ts';

type Asked = Parameters<CloudClient['runInstance']>[0] & { privateAddress: string };

/** Rejects with a sentence where the address is somebody else's. */
export async function runAt(cloud: CloudClient, asked: Asked): Promise<Instance> {
  try {
    return await cloud.runInstance(asked);
  } catch (error) {
    if (!(error instanceof CloudApiError) || error.code !== 'AddressInUse') throw error;
    const { privateAddress, subnetId, name } = asked;
    const { vpcId } = await cloud.getSubnet({ subnetId });
    const [holder] = (await cloud.listInterfaces({ vpcId, privateAddress })).items;
    const instanceId = holder?.attachment?.instanceId;
    const who = instanceId ? `instance ${instanceId}` : holder ? `interface ${holder.id}` : 'somebody else';
    const tag = `${clusterTag}=${asked.tags?.[clusterTag] ?? ''}`;
    throw new Error(
      `the address ${privateAddress} of ${name} is in use by ${who}: if that is ${name}, give it back its name and its tag ${tag}, which say whose it is; otherwise terminate it, and start again`,
      { cause: error },
    );
  }
}
