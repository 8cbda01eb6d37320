// Names of what the cloud makes on a Linux machine, all derived from the mark and a resource's id, so that a later process finds what a crashed
// one left behind. Interfaces of Linux have at most 15 characters. Pure.
//
//   internet (the machine) ══ uplink ══ edge ══ one router per VPC ══ one veth per interface ══ instance
//
// - edge: the provider's backbone. Has the public addresses: 1:1 translation for interfaces, load balancers' own.
// - router: one namespace per VPC. Each interface hangs on it by a veth of its own with a /32 route (proxy ARP makes the subnet look like a
//   LAN): no bridge, so that all packets pass routing and FORWARD, where route tables, source/destination checks and security groups are.

/** `vpc-1a2b3c4d` -> `1a2b3c4d`. */
const short = (id: string): string => id.slice(id.indexOf('-') + 1);

export const netnsPrefix = (mark: string): string => `sagong-${mark}-`;
export const edgeNetns = (mark: string): string => `${netnsPrefix(mark)}edge`;
export const routerNetns = (mark: string, vpcId: string): string => `${netnsPrefix(mark)}vpc-${short(vpcId)}`;
export const instanceNetns = (mark: string, instanceId: string): string => `${netnsPrefix(mark)}i-${short(instanceId)}`;
/** The network namespace of an interface that is attached to nothing. */
export const interfaceNetns = (mark: string, interfaceId: string): string => `${netnsPrefix(mark)}eni-${short(interfaceId)}`;

/** The machine's end of the uplink. */
export const uplinkLink = (mark: string): string => `sg${mark}up`;
/** The name of the uplink's other end, in the edge. */
export const edgeUplink = 'uplink';
/** Names of the link between the edge and a VPC's router: in the edge it is named by the VPC, in the router `edge`. */
export const edgeToRouter = (vpcId: string): string => `r-${short(vpcId)}`;
export const routerToEdge = 'edge';
/** The link in the router that leads to an interface; its other end is named by its device index (`eth0`). */
export const routerToInterface = (interfaceId: string): string => `v-${short(interfaceId)}`;

/** The path of an instance's cgroup below every controller. */
export const instanceCgroup = (mark: string, instanceId: string): string => `sagong-${mark}-i-${short(instanceId)}`;

/**
 * Connection mark of packets that a load balancer sends to its targets: security groups let them pass, as the load balancer has checked
 * the source already. Set by the load balancers' rules in mangle/PREROUTING of the router.
 */
export const loadBalancerMark = 0x5a60;

/** Link-local addresses between edge and router (RFC 3927): the edge's end is .1 of a /30 by the VPC's number. */
export const routingProtocol = 77;
