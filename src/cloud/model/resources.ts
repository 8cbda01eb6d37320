// What exists in the local cloud, as its HTTP API shows it. One schema per resource is the source of everything: the types here, what the
// server accepts, and the OpenAPI document. Names follow what vendors call these things (EC2's, mostly), in camelCase. Pure.
import * as z from 'zod';
import { once } from '#utils';

/** What is of a schema that is made when first used: programs that only ask a cloud need few of these, and schemas take their time. */
type Of<Schema extends () => z.ZodType> = z.infer<ReturnType<Schema>>;

const ipv4 = z.ipv4();
const cidr = z.cidrv4();
export const tags = z.record(z.string().min(1).max(128), z.string().max(256));
export const port = z.int().min(1).max(65_535);

/** Every resource: who owns it, what it is called by users, when it was made. */
const resource = once(() =>
  z.object({
    id: z.string(),
    /** Account that owns it. A provider's service may own resources that lie in a customer's network. */
    ownerId: z.string(),
    tags,
    createdAt: z.iso.datetime(),
  }),
);

export const zone = once(() => z.object({ name: z.string(), region: z.string() }));
export type Zone = Of<typeof zone>;

export const instanceType = once(() => z.object({ name: z.string(), cpus: z.int(), memoryMiB: z.int() }));
export type InstanceType = Of<typeof instanceType>;

export const vpc = once(() => resource().extend({ name: z.string(), cidr }));
export type Vpc = Of<typeof vpc>;

export const subnet = once(() =>
  resource().extend({ name: z.string(), vpcId: z.string(), zone: z.string(), cidr, routeTableId: z.string() }),
);
export type Subnet = Of<typeof subnet>;

/** Where a route leads. `local`: inside the VPC, there by itself. */
export const routeTarget = once(() =>
  z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('local') }),
    z.object({ kind: z.literal('internet-gateway') }),
    z.object({ kind: z.literal('instance'), id: z.string() }),
    z.object({ kind: z.literal('interface'), id: z.string() }),
  ]),
);
export const route = once(() =>
  z.object({
    destination: cidr,
    target: routeTarget(),
    /** `blackhole`: what it led to is gone or stopped; packets are dropped. */
    state: z.enum(['active', 'blackhole']),
    /** The name that the caller has chosen. */
    name: z.string(),
  }),
);
export type Route = Of<typeof route>;

export const routeTable = once(() =>
  resource().extend({
    vpcId: z.string(),
    /** The table of subnets that name no other. */
    main: z.boolean(),
    routes: z.array(route()),
  }),
);
export type RouteTable = Of<typeof routeTable>;

export const securityGroupRule = once(() =>
  z.object({
    protocol: z.enum(['tcp', 'udp', 'icmp', 'all']),
    /** The first port of tcp and udp rules; absent: all ports. */
    fromPort: port.optional(),
    toPort: port.optional(),
    /** Exactly one of the two. */
    cidr: cidr.optional(),
    groupId: z.string().optional(),
    description: z.string().optional(),
  }),
);
export type SecurityGroupRule = Of<typeof securityGroupRule>;

/** Stateful: answers to what was let through pass. No rule: nothing passes. */
export const securityGroup = once(() =>
  resource().extend({
    vpcId: z.string(),
    name: z.string(),
    description: z.string(),
    ingress: z.array(securityGroupRule()),
    egress: z.array(securityGroupRule()),
  }),
);
export type SecurityGroup = Of<typeof securityGroup>;

export const networkInterface = once(() =>
  resource().extend({
    vpcId: z.string(),
    subnetId: z.string(),
    zone: z.string(),
    description: z.string(),
    privateAddress: ipv4,
    publicAddress: ipv4.optional(),
    securityGroupIds: z.array(z.string()),
    /** Off: packets that are neither from nor to its own address may pass (needed where pods are behind it). */
    sourceDestCheck: z.boolean(),
    /** Made by a service of the provider in somebody else's subnet. */
    requesterManaged: z.boolean(),
    /** The service that made it. */
    requesterId: z.string().optional(),
    /** Whose instance it leads to, where the owner of the interface does not see that instance. */
    instanceOwnerId: z.string().optional(),
    attachment: z.object({ instanceId: z.string(), deviceIndex: z.int() }).optional(),
    /**
     * On the machine that plays the cloud: the network namespace its address lives in. An interface without an attachment has a namespace of its
     * own, so that a program of this machine can be present in the subnet. Absent without real networks.
     */
    netns: z.string().optional(),
  }),
);
export type NetworkInterface = Of<typeof networkInterface>;

export const instanceState = once(() => z.enum(['pending', 'running', 'stopping', 'stopped', 'shutting-down', 'terminated']));
export type InstanceState = Of<typeof instanceState>;

/** A program that runs as long as the instance does: started at each boot, started again when it ends. */
export const userData = once(() =>
  z.object({
    command: z.array(z.string()).min(1),
    env: z.record(z.string(), z.string()).optional(),
    /** A folder of the machine that is the instance's disk: kept over stop and start; logs go to `logs/` in it. */
    directory: z.string(),
    /** Folders of the machine that the program is in: seen inside at the same paths, for reading. What the machine has in `/usr` and the like is seen anyway. */
    shows: z.array(z.string()).optional(),
    /** Folders of the machine that are seen inside at paths of their own, and written to unless `readOnly`. */
    mounts: z.array(z.object({ source: z.string(), target: z.string(), readOnly: z.boolean().optional() })).optional(),
  }),
);
export type UserData = Of<typeof userData>;

export const instance = once(() =>
  resource().extend({
    name: z.string(),
    type: z.string(),
    zone: z.string(),
    region: z.string(),
    vpcId: z.string(),
    subnetId: z.string(),
    state: instanceState(),
    /** Why it is in this state, when not by request. */
    stateReason: z.string().optional(),
    privateAddress: ipv4,
    publicAddress: ipv4.optional(),
    privateDnsName: z.string(),
    interfaceIds: z.array(z.string()),
    userData: userData().optional(),
    /** The first process of the instance on the machine that plays the cloud, while it runs there. */
    initPid: z.int().optional(),
    /** Starts and reboots asked for so far. A running instance that was booted with another number is booted again. Absent: 1. */
    boots: z.int().optional(),
    terminatedAt: z.iso.datetime().optional(),
  }),
);
export type Instance = Of<typeof instance>;

/** A public address that is kept until it is released. */
export const address = once(() =>
  resource().extend({
    publicAddress: ipv4,
    interfaceId: z.string().optional(),
    loadBalancerId: z.string().optional(),
  }),
);
export type Address = Of<typeof address>;

export const healthCheck = once(() =>
  z.object({
    /** https: whatever certificate the target has. */
    protocol: z.enum(['http', 'https', 'tcp']),
    port,
    /** The path that http and https checks ask for; 200 is healthy. */
    path: z.string().optional(),
    intervalMs: z.int().min(100).default(2000),
    timeoutMs: z.int().min(50).default(1000),
    healthyThreshold: z.int().min(1).default(1),
    unhealthyThreshold: z.int().min(1).default(2),
    /** Connections to a target end when it is no longer healthy, or no target any more; else they last as long as it keeps them. */
    terminateConnections: z.boolean().optional(),
    /** Where no target is healthy, all get connections, for the check may be what is wrong; else connections are closed. */
    failOpen: z.boolean().optional(),
  }),
);
export type HealthCheck = Of<typeof healthCheck>;

/** What one load balancer may have. */
export const listenersMax = 100;
export const sourceRangesMax = 500;

export const listener = once(() =>
  z.object({
    protocol: z.enum(['tcp', 'udp']),
    port,
    /** The port of the targets of `proxy` load balancers. `network` ones keep address and port as the client sent them. */
    targetPort: port.optional(),
  }),
);
export type Listener = Of<typeof listener>;

export const targetHealth = once(() => z.enum(['initial', 'healthy', 'unhealthy', 'unused']));
export type TargetHealth = Of<typeof targetHealth>;

export const loadBalancer = once(() =>
  resource().extend({
    name: z.string(),
    /**
     * `proxy`: TCP is taken by a proxy, UDP rewritten on the way; targets answer on `targetPort`.
     * `network`: packets reach a target as they were sent (direct server return of a layer 3 load balancer): the client's address is kept, and
     * the target must take the load balancer's address as its own.
     */
    kind: z.enum(['proxy', 'network']),
    scheme: z.enum(['internet-facing', 'internal']),
    vpcId: z.string(),
    subnetIds: z.array(z.string()).min(1),
    /** Public, or for `internal` private; kept as long as the load balancer exists. */
    address: ipv4,
    state: z.enum(['provisioning', 'active', 'failed']),
    stateReason: z.string().optional(),
    listeners: z.array(listener()),
    /** The addresses that may use it; empty: nobody. */
    sourceRanges: z.array(cidr),
    healthCheck: healthCheck().optional(),
    proxyProtocol: z.enum(['none', 'v1', 'v2']),
    /** How long a client keeps its target; absent: not at all. */
    affinityTimeoutSeconds: z.int().optional(),
    targets: z.array(z.object({ instanceId: z.string(), health: targetHealth() })),
    /** Where the listeners of load balancers on loopback really answer, by `<protocol>/<port>` (`tcp/80`). */
    loopbackPorts: z.record(z.string(), port).optional(),
  }),
);
export type LoadBalancer = Of<typeof loadBalancer>;

/** A name zone: private ones are seen in their VPCs only, and there before public ones. */
export const dnsZone = once(() =>
  resource().extend({
    name: z.string(),
    visibility: z.enum(['public', 'private']),
    vpcIds: z.array(z.string()),
    records: z.array(
      z.object({ name: z.string(), type: z.enum(['A', 'CNAME']), ttlSeconds: z.int(), values: z.array(z.string()).min(1) }),
    ),
  }),
);
export type DnsZone = Of<typeof dnsZone>;
