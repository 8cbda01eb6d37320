// DescribeInstances in its three uses: by id, by private DNS name, and all of them.
import {
  DescribeInstancesCommand,
  type DescribeInstancesCommandInput,
  type Instance,
  type Reservation,
} from '@aws-sdk/client-ec2';
import { type Api, pages } from '../clients.ts';
import { pageItems, pagesMax } from '../limits.ts';
import { type ClusterTags, inCluster } from '../tags.ts';

/** AWS has the list also when it is empty; an answer without it says nothing about instances. */
function reservations(found: Reservation[] | undefined): Reservation[] {
  if (!found) throw new Error('the answer to DescribeInstances has no list of reservations');
  return found;
}

const describe = (api: Api, input: DescribeInstancesCommandInput): Promise<Instance[]> =>
  pages(
    (NextToken) => api.ec2(new DescribeInstancesCommand({ ...input, ...(NextToken !== undefined && { NextToken }) })),
    ({ Reservations }) => reservations(Reservations).flatMap(({ Instances = [] }) => Instances),
    ({ NextToken }) => NextToken,
    pagesMax,
  );

/** Describes instances by their IDs. The call fails as a whole when AWS does not know one of them. */
export async function instancesById(api: Api, ids: readonly string[]): Promise<Map<string, Instance>> {
  const found = await describe(api, { InstanceIds: [...ids] });
  return new Map(found.map((instance) => [instance.InstanceId ?? '', instance]));
}

/** All but the terminated, which AWS shows for an hour. */
const alive = ['pending', 'running', 'shutting-down', 'stopping', 'stopped'];

/** The instances of the cluster by private DNS name; each name may be of several. */
export async function instancesByName(
  api: Api,
  cluster: ClusterTags,
  names: readonly string[],
): Promise<Map<string, Instance[]>> {
  const found = await describe(api, {
    Filters: [
      { Name: 'private-dns-name', Values: [...names] },
      { Name: 'instance-state-name', Values: alive },
    ],
  });
  const byName = new Map<string, Instance[]>();
  for (const instance of found.filter(({ Tags }) => inCluster(cluster, Tags))) {
    const name = instance.PrivateDnsName ?? '';
    byName.set(name, [...(byName.get(name) ?? []), instance]);
  }
  return byName;
}

/** Whether an instance is terminated: AWS shows it for an hour after that. */
export const isGone = ({ State }: Instance): boolean => State?.Name === 'terminated' || State?.Name === 'shutting-down';

export const allInstances = async (api: Api, cluster: ClusterTags): Promise<Instance[]> =>
  (await describe(api, { MaxResults: pageItems })).filter(({ Tags }) => inCluster(cluster, Tags));
