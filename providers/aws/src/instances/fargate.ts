// Nodes of Fargate: `fargate-<address or private DNS name>`. There is no instance to describe; the network interface stands for it.
import { DescribeNetworkInterfacesCommand, type NetworkInterface } from '@aws-sdk/client-ec2';
import type { Api } from '../clients.ts';

/** The private address that an id is made from. Pure. */
export const fargateAddress = (id: string): string => {
  const name = id.replace(/^fargate-/, '');
  return name.startsWith('ip-') ? (name.slice('ip-'.length).split('.')[0] as string).replaceAll('-', '.') : name;
};

export async function fargateInterface(api: Api, vpcId: string, id: string): Promise<NetworkInterface | undefined> {
  const { NetworkInterfaces = [] } = await api.ec2(
    new DescribeNetworkInterfacesCommand({
      Filters: [
        { Name: 'attachment.status', Values: ['attached'] },
        { Name: 'vpc-id', Values: [vpcId] },
        { Name: 'private-ip-address', Values: [fargateAddress(id)] },
      ],
    }),
  );
  if (NetworkInterfaces.length > 1) throw new Error(`multiple interfaces found with same id ${id}`);
  return NetworkInterfaces[0];
}
