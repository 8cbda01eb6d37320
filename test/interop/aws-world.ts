// A network in an empty account, a provider over it, and the hands to do what users of AWS do outside Kubernetes.
import type { Node, Service } from '#api/core/v1';
import { type CloudInformers, type CloudProvider, validateConfig } from '#cloud-provider';
import type { ConformanceWorld, OtherCluster } from '#cloud-provider/conformance';
import { systemClock } from '#host';
import { type Clock, silentLogger } from '#utils';
import aws, { type AwsConfig } from '../../providers/aws/src/index.ts';
import { element, elements, ingressIn, type Moto } from './aws-moto.ts';

process.env['AWS_ACCESS_KEY_ID'] ??= 'test';
process.env['AWS_SECRET_ACCESS_KEY'] ??= 'test';

export const cluster = 'kubernetes';
export const region = 'us-east-1';

/** Waits of seconds take milliseconds. */
const hastyClock = (): Clock => {
  const clock = systemClock();
  return { ...clock, sleep: (delayMs, signal) => clock.sleep(Math.min(delayMs, 20), signal) };
};

export interface AwsWorld extends ConformanceWorld {
  cloud: CloudProvider;
  vpcId: string;
  subnets: string[];
  nodeGroup: string;
  /** Instance ids by Node name. */
  instances: Map<string, string>;
  /** A Node as the manager's cache has it, with the addresses of its machine. */
  node(name: string, labels?: Record<string, string>): Node;
  /** Text of `--cloud-config`. */
  config: string;
  /** A provider with more lines in `[Global]`. */
  provider(more?: string): Promise<CloudProvider>;
}

const services = ['EC2', 'Elastic Load Balancing', 'Elastic Load Balancing v2'];

export const configText = (url: string, vpcId: string, subnetId: string, more = ''): string =>
  [
    '[Global]',
    `Region = ${region}`,
    `VPC = ${vpcId}`,
    `SubnetID = ${subnetId}`,
    `KubernetesClusterID = ${cluster}`,
    more,
    ...services.flatMap((service, index) => [
      `[ServiceOverride "${index + 1}"]`,
      `Service = ${service}`,
      `Region = ${region}`,
      `URL = ${url}`,
      `SigningRegion = ${region}`,
    ]),
    '',
  ].join('\n');

const tagged = (moto: Moto, id: string, owner: string) =>
  moto.query('ec2', 'CreateTags', {
    'ResourceId.1': id,
    'Tag.1.Key': `kubernetes.io/cluster/${owner}`,
    'Tag.1.Value': 'owned',
  });

/** A VPC with a public subnet in two zones, the tagged route table, and the tagged group of the nodes. */
async function makeNetwork(moto: Moto): Promise<{ vpcId: string; subnets: string[]; nodeGroup: string }> {
  const ask = async (action: string, field: string, params: Record<string, string>): Promise<string> =>
    element(await moto.query('ec2', action, params), field);
  const tag = (id: string) => tagged(moto, id, cluster);
  const vpcId = await ask('CreateVpc', 'vpcId', { CidrBlock: '10.1.0.0/16' });
  const subnets: string[] = [];
  for (const [index, zone] of ['a', 'b'].entries())
    subnets.push(
      await ask('CreateSubnet', 'subnetId', {
        VpcId: vpcId,
        CidrBlock: `10.1.${index * 64}.0/18`,
        AvailabilityZone: `${region}${zone}`,
      }),
    );
  const gateway = await ask('CreateInternetGateway', 'internetGatewayId', {});
  await moto.query('ec2', 'AttachInternetGateway', { InternetGatewayId: gateway, VpcId: vpcId });
  const table = await ask('DescribeRouteTables', 'routeTableId', { 'Filter.1.Name': 'vpc-id', 'Filter.1.Value.1': vpcId });
  await moto.query('ec2', 'CreateRoute', { RouteTableId: table, DestinationCidrBlock: '0.0.0.0/0', GatewayId: gateway });
  await tag(table);
  const nodeGroup = await ask('CreateSecurityGroup', 'groupId', { VpcId: vpcId, GroupName: 'nodes', GroupDescription: 'nodes' });
  await tag(nodeGroup);
  return { vpcId, subnets, nodeGroup };
}

/** As the manager's informers, with what `nodes` has. */
const informersOf = (nodes: ReadonlyMap<string, Node>): CloudInformers => ({
  informer: () => ({
    lister: { get: (_namespace: string, name: string) => nodes.get(name) as never, list: () => [...nodes.values()] as never[] },
    addHandler: () => () => {},
  }),
});

/** From the text of `--cloud-config`. */
export async function providerFrom(text: string): Promise<CloudProvider> {
  const config = validateConfig('aws', aws.configSchema, aws.parseConfig?.(text)) as AwsConfig;
  return aws.create({ config, configDir: '.', clock: hastyClock(), logger: silentLogger });
}

export async function awsWorld(moto: Moto, more = ''): Promise<AwsWorld> {
  await moto.reset();
  const { vpcId, subnets, nodeGroup } = await makeNetwork(moto);
  const instances = new Map<string, string>();
  const nodes = new Map<string, Node>();
  const config = configText(moto.url, vpcId, subnets[0] ?? '', more);

  async function provider(lines = more): Promise<CloudProvider> {
    const cloud = await providerFrom(configText(moto.url, vpcId, subnets[0] ?? '', lines));
    cloud.setInformers?.(informersOf(nodes));
    return cloud;
  }
  const idOf = (name: string): string => {
    const id = instances.get(name);
    if (id === undefined) throw new Error(`no instance for ${name}`);
    return id;
  };
  const nodesOf = (xml: string, field: string): string[] =>
    elements(xml, field).map((id) => [...instances].find(([, known]) => known === id)?.[0] ?? id);

  /** Read from moto, whichever kind the Service has. */
  async function backends(service: Service): Promise<string[]> {
    const name = cloud.loadBalancer?.getLoadBalancerName(cluster, service) ?? '';
    const classic = await moto.query('elb', 'DescribeLoadBalancers');
    if (classic.includes(`<LoadBalancerName>${name}<`))
      return nodesOf(await moto.query('elb', 'DescribeLoadBalancers', { 'LoadBalancerNames.member.1': name }), 'InstanceId');
    const arn = element(await moto.query('elbv2', 'DescribeLoadBalancers', { 'Names.member.1': name }), 'LoadBalancerArn');
    const listeners = await moto.query('elbv2', 'DescribeListeners', { LoadBalancerArn: arn });
    const groups = new Set(elements(listeners, 'TargetGroupArn'));
    const targets = await Promise.all(
      [...groups].map(async (TargetGroupArn) =>
        nodesOf(await moto.query('elbv2', 'DescribeTargetHealth', { TargetGroupArn }), 'Id'),
      ),
    );
    return [...new Set(targets.flat())];
  }
  async function leftovers(): Promise<string[]> {
    const groups = await moto.query('ec2', 'DescribeSecurityGroups', { 'Filter.1.Name': 'vpc-id', 'Filter.1.Value.1': vpcId });
    const rules = await moto.query('ec2', 'DescribeSecurityGroups', { 'GroupId.1': nodeGroup });
    return [
      ...elements(groups, 'groupName').filter((name) => name.startsWith('k8s-')),
      ...elements(await moto.query('elb', 'DescribeLoadBalancers'), 'LoadBalancerName'),
      ...elements(await moto.query('elbv2', 'DescribeLoadBalancers'), 'LoadBalancerName'),
      ...elements(await moto.query('elbv2', 'DescribeTargetGroups'), 'TargetGroupName'),
      ...ingressIn(rules).map((rule) => `rule ${rule}`),
    ].sort();
  }

  /** Whom the group of a classic load balancer lets in, or that of the nodes for a network load balancer. */
  async function sources(service: Service): Promise<string[]> {
    const name = cloud.loadBalancer?.getLoadBalancerName(cluster, service) ?? '';
    const isClassic = (await moto.query('elb', 'DescribeLoadBalancers')).includes(`<LoadBalancerName>${name}<`);
    if (isClassic) {
      const one = await moto.query('elb', 'DescribeLoadBalancers', { 'LoadBalancerNames.member.1': name });
      const groupId = element(one.slice(one.indexOf('<SecurityGroups>')), 'member');
      const rules = await moto.query('ec2', 'DescribeSecurityGroups', { 'GroupId.1': groupId });
      return ingressIn(rules).flatMap((rule) =>
        rule.startsWith('tcp') ? rule.split(' ').filter((word) => word.includes('/')) : [],
      );
    }
    const groups = await moto.query('ec2', 'DescribeSecurityGroups', { 'Filter.1.Name': 'vpc-id', 'Filter.1.Value.1': vpcId });
    return groups
      .split('<item>')
      .flatMap((item) => (item.includes(`kubernetes.io/rule/nlb/client=${name}<`) ? elements(item, 'cidrIp').slice(0, 1) : []));
  }
  /** In the same subnets, with a group of its own for its nodes. */
  async function otherCluster(): Promise<OtherCluster> {
    const text = configText(moto.url, vpcId, subnets[0] ?? '', more).replace(
      `KubernetesClusterID = ${cluster}`,
      'KubernetesClusterID = other',
    );
    const theirs = await providerFrom(text);
    theirs.setInformers?.(informersOf(nodes));
    const group = await moto.query('ec2', 'CreateSecurityGroup', {
      VpcId: vpcId,
      GroupName: 'other-nodes',
      GroupDescription: 'nodes',
    });
    const groupId = element(group, 'groupId');
    await tagged(moto, groupId, 'other');
    return { cloud: theirs, cluster: 'other', addInstance: (name) => addInstance(name, groupId, 'other') };
  }
  async function addInstance(name: string, groupId = nodeGroup, owner = cluster): Promise<void> {
    const xml = await moto.query('ec2', 'RunInstances', {
      ImageId: 'ami-12c6146b',
      InstanceType: 'm5.large',
      MinCount: '1',
      MaxCount: '1',
      SubnetId: subnets[instances.size % subnets.length] ?? '',
      'SecurityGroupId.1': groupId,
      'TagSpecification.1.ResourceType': 'instance',
      'TagSpecification.1.Tag.1.Key': `kubernetes.io/cluster/${owner}`,
      'TagSpecification.1.Tag.1.Value': 'owned',
    });
    const id = element(xml, 'instanceId');
    instances.set(name, id);
    nodes.set(name, { metadata: { name }, spec: { providerID: `aws:///${element(xml, 'availabilityZone')}/${id}` } });
  }

  const cloud = await provider();
  moto.calls.length = 0;
  return {
    cloud,
    cluster,
    vpcId,
    subnets,
    nodeGroup,
    instances,
    config,
    provider,
    backends,
    sources,
    leftovers,
    secondProvider: () => provider(),
    otherCluster,
    failInTheMiddle: () => moto.failNext('ConfigureHealthCheck', 'ValidationError'),
    addInstance: (name) => addInstance(name),
    async stopInstance(name) {
      await moto.query('ec2', 'StopInstances', { 'InstanceId.1': idOf(name) });
    },
    async terminateInstance(name) {
      await moto.query('ec2', 'TerminateInstances', { 'InstanceId.1': idOf(name) });
      moto.gone.add(idOf(name));
    },
    node(name, labels = {}) {
      const known = nodes.get(name);
      if (!known) throw new Error(`no Node ${name}`);
      return { ...known, metadata: { name, labels } };
    },
  };
}
