// The provider's backbone: it leads public addresses to the routers of the VPCs whose interfaces have them, and everybody else's packets out
// under its own address, the first public one. The uplink to the machine is made apart from this plan, as a machine may not allow it.
import { edgeToRouter, edgeUplink } from '../../model/index.ts';
import { addressIn } from './ipv4.ts';
import { routeEntry } from './routes.ts';
import { forwarding, routerPeer } from './router.ts';
import type { NamespacePlan } from './types.ts';
import type { VpcView } from './view.ts';

/** The second address is for the public name server. */
const nameServerAddressOf = (publicCidr: string): string => addressIn(publicCidr, 2);
export const edgeAddressOf = (publicCidr: string): string => addressIn(publicCidr, 1);

/** The routers' ends of their links: third of each block of four (view.ts). One rule for all, whatever VPCs there are. */
const routerEnds = '169.254.0.2/255.255.128.3';

export function edgePlan(vpcs: readonly VpcView[], publicCidr: string): NamespacePlan {
  const own = edgeAddressOf(publicCidr);
  return {
    order: 0,
    links: new Map(vpcs.map(routerPeer)),
    addresses: new Set([
      `lo ${own}/32`,
      `lo ${nameServerAddressOf(publicCidr)}/32`,
      ...vpcs.map(({ vpc, edgeAddress }) => `${edgeToRouter(vpc.id)} ${edgeAddress}/30`),
    ]),
    sysctls: new Map(forwarding),
    routes: new Map([
      // Addresses that nobody has must not go back to the machine, which would send them here again.
      routeEntry({ destination: publicCidr, kind: 'unreachable' }),
      ...vpcs.flatMap(({ vpc, interfaces, routerAddress }) =>
        interfaces.flatMap(({ item: { publicAddress } }) =>
          publicAddress ? [routeEntry({ destination: publicAddress, via: routerAddress, link: edgeToRouter(vpc.id) })] : [],
        ),
      ),
    ]),
    rules: new Set(),
    tables: new Map([
      [
        'filter',
        {
          hooks: ['FORWARD -j VPC-FORWARD'],
          // The addresses between edge and routers are nobody else's to reach.
          chains: new Map([['VPC-FORWARD', ['-d 169.254.0.0/16 -i r-+ -o r-+ -m conntrack --ctstate NEW -j DROP']]]),
        },
      ],
      [
        'nat',
        {
          hooks: ['POSTROUTING -j VPC-SNAT'],
          chains: new Map([
            [
              'VPC-SNAT',
              [
                `! -s ${publicCidr} -o ${edgeUplink} -j SNAT --to-source ${own}`,
                `-s ${routerEnds} -o r-+ -j SNAT --to-source ${own}`,
              ],
            ],
          ]),
        },
      ],
    ]),
  };
}
