// Availability zones: their ids (the same in every account, other than names) and kinds. They hardly ever change, so they are read once, and
// again only for a zone that is not among them.
import { during } from 'sagong/cloud-provider/kit';
import { type AvailabilityZone, DescribeAvailabilityZonesCommand } from '@aws-sdk/client-ec2';
import type { Api } from '../clients.ts';

export interface ZoneDetails {
  /** The zone of this name; undefined where AWS does not know it. */
  of(zone: string): Promise<AvailabilityZone | undefined>;
}

export function createZoneDetails(api: Api): ZoneDetails {
  let known = new Map<string, AvailabilityZone>();
  let underWay: Promise<void> | undefined;

  async function read(): Promise<void> {
    const { AvailabilityZones = [] } = await api
      .ec2(new DescribeAvailabilityZonesCommand({}))
      .catch(during('error describe availability zones'));
    known = new Map(AvailabilityZones.map((zone) => [zone.ZoneName ?? '', zone]));
  }
  return {
    async of(zone) {
      if (!known.has(zone))
        await (underWay ??= read().finally(() => {
          underWay = undefined;
        }));
      return known.get(zone);
    },
  };
}
