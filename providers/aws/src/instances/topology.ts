// Where an instance sits in AWS's network (DescribeInstanceTopology), as labels. Few types have one; what has none is remembered for a day, since
// the call is limited to few a second.
import { DescribeInstanceTopologyCommand } from '@aws-sdk/client-ec2';
import type { Clock, Logger } from 'sagong/cloud-provider';
import { textOf } from 'sagong/cloud-provider/kit';
import type { Api } from '../clients.ts';
import { hasCode } from '../errors.ts';
import { topologyUnsupportedMs } from '../limits.ts';

export const networkNodeLabel = (layer: number): string => `topology.k8s.aws/network-node-layer-${layer}`;

/** Types that have one for sure (EC2 User Guide, "Prerequisites for Amazon EC2 topology"); overridden by SupportedTopologyInstanceTypePattern. */
const supportedTypes = '^(hpc|trn|p)[0-9]+[a-z]*(-[a-z0-9]+)?(\\.[0-9a-z]*)$';

export interface Topology {
  /** Labels, or none. Throws only for a type that must have a topology. */
  labelsOf(instance: { id: string; type: string }): Promise<Record<string, string>>;
}

export function createTopology(
  api: Api,
  {
    region,
    pattern = supportedTypes,
    clock,
    logger,
  }: { region: string; pattern?: string | undefined; clock: Clock; logger: Logger },
): Topology {
  const required = new RegExp(pattern);
  /** Regions, types and instances without one, and until when that is believed. */
  const unsupported = new Map<string, number>();
  const isUnsupported = (key: string): boolean => {
    const until = unsupported.get(key);
    if (until === undefined) return false;
    if (clock.monotonic() < until) return true;
    unsupported.delete(key);
    return false;
  };
  const remember = (key: string): void => void unsupported.set(key, clock.monotonic() + topologyUnsupportedMs);

  async function nodesOf(id: string, type: string): Promise<string[]> {
    if (type === '' || [region, id, type].some(isUnsupported)) return [];
    try {
      const { Instances = [] } = await api.ec2(new DescribeInstanceTopologyCommand({ InstanceIds: [id] }));
      if (Instances[0]) return Instances[0].NetworkNodes ?? [];
      remember(required.test(type) ? id : type);
    } catch (error) {
      if (!hasCode(error, 'UnsupportedOperation', 'UnauthorizedOperation')) throw error;
      logger.warn('no network topology in this region', { region, error: textOf(error) });
      remember(region);
    }
    return [];
  }

  return {
    async labelsOf({ id, type }) {
      const nodes = await nodesOf(id, type).catch((error: unknown) => {
        if (required.test(type)) throw error;
        logger.warn('no network topology of instance', { instance: id, type, error: textOf(error) });
        return [];
      });
      return Object.fromEntries(nodes.map((node, index) => [networkNodeLabel(index + 1), node]));
    },
  };
}
