// What Services, Nodes and routes do to AWS: whole lives against moto, with the calls that are made.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Service } from '#api/core/v1';
import {
  isImplementedElsewhere,
  isInstanceNotFound,
  type LoadBalancer,
  type LoadBalancerStatus,
  retryAfterOf,
} from '#cloud-provider';
import { element, elements, ingressIn, type Moto, pythonWithMoto, startMoto } from './aws-moto.ts';
import { type AwsWorld, awsWorld, cluster, providerFrom } from './aws-world.ts';

const python = await pythonWithMoto();
const prefix = 'service.beta.kubernetes.io/aws-load-balancer-';
const uid = '11112222-3333-4444-5555-666677778888';
const name = 'a1111222233334444555566667777888';

interface Given {
  spec?: Partial<Service['spec']>;
  annotations?: Record<string, string>;
  status?: LoadBalancerStatus;
}
const service = ({ spec, annotations = {}, status = {} }: Given = {}): Service => ({
  metadata: {
    name: 'web',
    namespace: 'shop',
    uid,
    annotations: Object.fromEntries(Object.entries(annotations).map(([key, value]) => [prefix + key, value])),
  },
  spec: {
    type: 'LoadBalancer',
    sessionAffinity: 'None',
    externalTrafficPolicy: 'Cluster',
    ports: [
      { name: 'http', protocol: 'TCP', port: 80, nodePort: 30_080 },
      { name: 'https', protocol: 'TCP', port: 443, nodePort: 30_443 },
    ],
    ...spec,
  },
  status: { loadBalancer: status },
});

const changing = (calls: readonly string[]): string[] => calls.filter((call) => !call.startsWith('Describe'));

describe.skipIf(python === undefined)('AWS, on moto (skipped without python3 and PyPI)', () => {
  let moto: Moto;
  let world: AwsWorld;
  let balancers: LoadBalancer;
  beforeAll(async () => {
    moto = await startMoto(python ?? '');
  });
  afterAll(() => moto?.stop());

  const open = async (more = ''): Promise<void> => {
    world = await awsWorld(moto, more);
    balancers = world.cloud.loadBalancer as LoadBalancer;
    for (const node of ['a', 'b']) await world.addInstance(node);
    moto.calls.length = 0;
  };
  beforeEach(() => open());
  afterEach(() => {
    moto.calls.length = 0;
  });

  /** The calls of one piece of work that change something. */
  async function changes(work: () => Promise<unknown>): Promise<string[]> {
    const from = moto.calls.length;
    await work();
    return changing(moto.calls.slice(from));
  }
  const ensure = (given: Given = {}, nodes = [world.node('a'), world.node('b')]) =>
    balancers.ensureLoadBalancer(cluster, service(given), nodes);
  const group = (id: string): Promise<string> => moto.query('ec2', 'DescribeSecurityGroups', { 'GroupId.1': id });
  const classic = (): Promise<string> => moto.query('elb', 'DescribeLoadBalancers', { 'LoadBalancerNames.member.1': name });
  describe('a classic load balancer', () => {
    it('is made in the order of what it stands on, and changed no more than it must be', async () => {
      const made = await changes(async () => {
        expect(await ensure()).toEqual({ ingress: [{ hostname: `${name}.us-east-1.elb.amazonaws.com` }] });
      });
      expect(made).toEqual([
        'CreateSecurityGroup',
        'AuthorizeSecurityGroupIngress',
        'CreateLoadBalancer',
        'ConfigureHealthCheck',
        'AuthorizeSecurityGroupIngress',
        'RegisterInstancesWithLoadBalancer',
      ]);
      const xml = await classic();
      expect(elements(xml, 'LoadBalancerPort')).toEqual(['80', '443']);
      expect(elements(xml, 'InstancePort')).toEqual(['30080', '30443']);
      expect(element(xml, 'Target')).toBe('TCP:30080');
      expect(element(xml, 'UnhealthyThreshold')).toBe('6');
      expect((await world.backends?.(service()))?.toSorted()).toEqual(['a', 'b']);
      expect(await changes(() => ensure())).toEqual([]);
    });
    it('carries the tags of cluster, Service and user', async () => {
      await ensure({ annotations: { 'additional-resource-tags': 'team=blue,empty' } });
      const tags = await moto.query('elb', 'DescribeTags', { 'LoadBalancerNames.member.1': name });
      const pairs = [...tags.matchAll(/<Key>(.*?)<\/Key>(?:<Value>(.*?)<\/Value>)?/g)].map(
        ([, key, value = '']) => `${key}=${value}`,
      );
      expect(pairs).toEqual(
        expect.arrayContaining([
          'team=blue',
          'empty=',
          `kubernetes.io/cluster/${cluster}=owned`,
          'kubernetes.io/service-name=shop/web',
        ]),
      );
    });
    it('follows ports, source ranges and nodes', async () => {
      await ensure();
      const spec = {
        ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 31_000 }],
        loadBalancerSourceRanges: ['10.9.8.7/8', '192.168.0.0/16'],
      };
      expect(await changes(() => ensure({ spec }, [world.node('b')]))).toEqual([
        'AuthorizeSecurityGroupIngress',
        'RevokeSecurityGroupIngress',
        'DeleteLoadBalancerListeners',
        'CreateLoadBalancerListeners',
        'ConfigureHealthCheck',
        'DeregisterInstancesFromLoadBalancer',
      ]);
      const xml = await classic();
      expect(elements(xml, 'InstancePort')).toEqual(['31000']);
      const rules = ingressIn(await group(element(xml.slice(xml.indexOf('<SecurityGroups>')), 'member')));
      expect(rules).toEqual(['icmp 3 10.0.0.0/8 192.168.0.0/16', 'tcp 80 10.0.0.0/8 192.168.0.0/16']);
      expect(await changes(() => ensure({ spec }, [world.node('b')]))).toEqual([]);
    });
    it('asks the health port where the traffic policy is Local', async () => {
      await ensure({ spec: { externalTrafficPolicy: 'Local', healthCheckNodePort: 32_000 } });
      expect(element(await classic(), 'Target')).toBe('HTTP:32000/healthz');
    });
    it('speaks the PROXY protocol, drains, logs, and spreads over zones', async () => {
      const annotations = {
        'proxy-protocol': '*',
        'connection-draining-enabled': 'true',
        'connection-draining-timeout': '30',
        'connection-idle-timeout': '120',
        'cross-zone-load-balancing-enabled': 'true',
      };
      await ensure({ annotations });
      expect(await classic()).toContain('<member>k8s-proxyprotocol-enabled</member>');
      const attributes = await moto.query('elb', 'DescribeLoadBalancerAttributes', { LoadBalancerName: name });
      expect([element(attributes, 'IdleTimeout'), element(attributes, 'Timeout')]).toEqual(['120', '30']);
      expect(await changes(() => ensure({ annotations }))).toEqual([]);
      expect(await changes(() => ensure())).toEqual([
        'SetLoadBalancerPoliciesForBackendServer',
        'SetLoadBalancerPoliciesForBackendServer',
        'ModifyLoadBalancerAttributes',
      ]);
    });
    it('lets its group in to the nodes, and only while it is there', async () => {
      await ensure();
      const xml = await classic();
      const front = element(xml.slice(xml.indexOf('<SecurityGroups>')), 'member');
      expect(ingressIn(await group(world.nodeGroup))).toEqual([`-1 ${front}`]);
      await balancers.ensureLoadBalancerDeleted(cluster, service());
      expect(ingressIn(await group(world.nodeGroup))).toEqual([]);
    });
    it('is deleted with a security group that stays in use for a while', async () => {
      await ensure();
      moto.groupsBusy(2);
      expect(await changes(() => balancers.ensureLoadBalancerDeleted(cluster, service()))).toEqual([
        'RevokeSecurityGroupIngress',
        'DeleteLoadBalancer',
        'DeleteSecurityGroup',
        'DeleteSecurityGroup',
        'DeleteSecurityGroup',
      ]);
      expect(await world.leftovers?.()).toEqual([]);
    });
    it('exists while its security group is left', async () => {
      moto.failNext('CreateLoadBalancer', 'TooManyLoadBalancers');
      await expect(ensure()).rejects.toThrow('TooManyLoadBalancers');
      expect(await balancers.getLoadBalancer(cluster, service())).toEqual({});
      await balancers.ensureLoadBalancerDeleted(cluster, service());
      expect(await balancers.getLoadBalancer(cluster, service())).toBeUndefined();
      expect(await world.leftovers?.()).toEqual([]);
    });
    it('leaves groups of the user alone, and a shared one open while another load balancer has it', async () => {
      const groupId = element(
        await moto.query('ec2', 'CreateSecurityGroup', { VpcId: world.vpcId, GroupName: 'mine', GroupDescription: 'mine' }),
        'groupId',
      );
      const annotations = { 'security-groups': groupId };
      const other = service({ annotations });
      other.metadata.uid = uid.replaceAll('1', '9');
      await ensure({ annotations });
      await balancers.ensureLoadBalancer(cluster, other, [world.node('a')]);
      await balancers.ensureLoadBalancerDeleted(cluster, service({ annotations }));
      expect(ingressIn(await group(world.nodeGroup))).toEqual([`-1 ${groupId}`]);
      await balancers.ensureLoadBalancerDeleted(cluster, other);
      expect(ingressIn(await group(world.nodeGroup))).toEqual([]);
      expect(await group(groupId)).toContain('<groupName>mine<');
    });
    it('chooses nodes by labels, and says when there is nothing to update', async () => {
      const annotations = { 'target-node-labels': 'pool=front,gpu' };
      await expect(balancers.updateLoadBalancer(cluster, service(), [])).rejects.toThrow('Load balancer not found');
      await ensure({ annotations }, [world.node('a', { pool: 'front', gpu: '' }), world.node('b', { pool: 'front' })]);
      expect(await world.backends?.(service())).toEqual(['a']);
    });
    it('ends TLS with the policy that is asked for', async () => {
      const annotations = {
        'ssl-cert': 'arn:aws:iam::123456789012:server-certificate/web',
        'ssl-ports': 'https',
        'ssl-negotiation-policy': 'ELBSecurityPolicy-TLS-1-2-2017-01',
        'backend-protocol': 'https',
      };
      const made = await changes(() => ensure({ annotations }));
      expect(made.filter((call) => call.includes('Polic'))).toEqual([
        'CreateLoadBalancerPolicy',
        'SetLoadBalancerPoliciesOfListener',
      ]);
      const xml = await classic();
      expect(elements(xml, 'Protocol')).toEqual(['TCP', 'HTTPS']);
      expect(xml).toContain('<member>k8s-SSLNegotiationPolicy-ELBSecurityPolicy-TLS-1-2-2017-01</member>');
      expect(await changes(() => ensure({ annotations }))).toEqual([]);
      expect(await changes(() => balancers.updateLoadBalancer(cluster, service({ annotations }), [world.node('a')]))).toEqual([
        'DeregisterInstancesFromLoadBalancer',
      ]);
    });
    it('is only found inside when internal, in subnets that are named', async () => {
      await ensure({ annotations: { internal: 'true', subnets: world.subnets[1] ?? '' } });
      const xml = await classic();
      expect(element(xml, 'Scheme')).toBe('internal');
      expect(element(xml.slice(xml.indexOf('<Subnets>')), 'member')).toBe(world.subnets[1]);
    });
  });

  describe('a network load balancer', () => {
    const nlb = { type: 'nlb' };
    const listeners = async (): Promise<string> => {
      const arn = element(await moto.query('elbv2', 'DescribeLoadBalancers', { 'Names.member.1': name }), 'LoadBalancerArn');
      return moto.query('elbv2', 'DescribeListeners', { LoadBalancerArn: arn });
    };
    it('is made, and changed no more than it must be', async () => {
      const made = await changes(async () => {
        expect(await ensure({ annotations: nlb })).toEqual({
          ingress: [{ hostname: expect.stringMatching(/^a1111.*\.elb\.us-east-1\.amazonaws\.com$/) as string }],
        });
      });
      expect(made).toEqual([
        'CreateLoadBalancer',
        'CreateTargetGroup',
        'RegisterTargets',
        'CreateTargetGroup',
        'RegisterTargets',
        'CreateListener',
        'CreateListener',
        'ModifyLoadBalancerAttributes',
        'AuthorizeSecurityGroupIngress',
      ]);
      expect(ingressIn(await group(world.nodeGroup))).toEqual(['icmp 3 0.0.0.0/0', 'tcp 30080 0.0.0.0/0', 'tcp 30443 0.0.0.0/0']);
      const status = (await balancers.getLoadBalancer(cluster, service({ annotations: nlb }))) ?? {};
      expect(await changes(() => ensure({ annotations: nlb, status }))).toEqual([]);
    });
    it('follows ports, source ranges and nodes', async () => {
      await ensure({ annotations: nlb });
      const spec = {
        ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 31_000 }],
        loadBalancerSourceRanges: ['10.0.0.0/8'],
      };
      expect(await changes(() => ensure({ annotations: nlb, spec }, [world.node('b')]))).toEqual([
        'CreateTargetGroup',
        'RegisterTargets',
        'DeleteListener',
        'ModifyListener',
        'DeleteTargetGroup',
        'DeleteTargetGroup',
        'AuthorizeSecurityGroupIngress',
        'RevokeSecurityGroupIngress',
      ]);
      expect(elements(await listeners(), 'Port')).toEqual(['80']);
      expect(ingressIn(await group(world.nodeGroup))).toEqual([
        'icmp 3 10.0.0.0/8',
        'tcp 31000 10.0.0.0/8 10.1.0.0/18 10.1.64.0/18',
      ]);
      expect(await world.backends?.(service())).toEqual(['b']);
    });
    it('ends TLS, and goes back to TCP on the same port', async () => {
      const annotations = {
        ...nlb,
        'ssl-cert': 'arn:aws:iam::123456789012:server-certificate/web',
        'ssl-ports': '443',
        'ssl-negotiation-policy': 'ELBSecurityPolicy-TLS13-1-2-2021-06',
      };
      await ensure({ annotations });
      expect(elements(await listeners(), 'Protocol')).toEqual(['TCP', 'TLS']);
      expect(elements(await listeners(), 'SslPolicy')).toContain('ELBSecurityPolicy-TLS13-1-2-2021-06');
      expect(await changes(() => ensure({ annotations }))).toEqual([]);
      expect(await changes(() => ensure({ annotations: nlb }))).toEqual(['ModifyListener']);
      expect(elements(await listeners(), 'Protocol')).toEqual(['TCP', 'TCP']);
    });
    it('serves UDP, with TCP health checks', async () => {
      const spec = { ports: [{ name: 'dns', protocol: 'UDP', port: 53, nodePort: 30_053 }] };
      await ensure({ annotations: nlb, spec });
      expect(element(await listeners(), 'Protocol')).toBe('UDP');
      expect(ingressIn(await group(world.nodeGroup))).toEqual([
        'icmp 3 0.0.0.0/0',
        'tcp 30053 10.1.0.0/18 10.1.64.0/18',
        'udp 30053 0.0.0.0/0',
      ]);
      const moved = { ports: [{ name: 'dns', protocol: 'UDP', port: 53, nodePort: 31_053 }] };
      expect(await changes(() => ensure({ annotations: nlb, spec: moved }))).toEqual([
        'CreateTargetGroup',
        'RegisterTargets',
        'ModifyListener',
        'DeleteTargetGroup',
        'AuthorizeSecurityGroupIngress',
        'RevokeSecurityGroupIngress',
      ]);
    });
    it('asks the health port where the traffic policy is Local, and sets attributes of target groups', async () => {
      const annotations = { ...nlb, 'target-group-attributes': 'preserve_client_ip.enabled=false' };
      await ensure({ annotations, spec: { externalTrafficPolicy: 'Local', healthCheckNodePort: 32_000 } });
      const groups = await moto.query('elbv2', 'DescribeTargetGroups');
      expect(elements(groups, 'HealthCheckProtocol')).toEqual(['HTTP', 'HTTP']);
      expect(elements(groups, 'HealthCheckPort')).toEqual(['32000', '32000']);
      expect(elements(groups, 'HealthCheckPath')).toEqual(['/healthz', '/healthz']);
      expect(changing(moto.calls).filter((call) => call === 'ModifyTargetGroupAttributes')).toHaveLength(2);
    });
    it('leaves nothing when it is deleted, and exists while pieces of it are left', async () => {
      moto.failNext('CreateListener', 'TooManyListeners');
      await expect(ensure({ annotations: nlb })).rejects.toThrow('TooManyListeners');
      const arn = element(await moto.query('elbv2', 'DescribeLoadBalancers'), 'LoadBalancerArn');
      await moto.query('elbv2', 'DeleteLoadBalancer', { LoadBalancerArn: arn });
      expect(await balancers.getLoadBalancer(cluster, service({ annotations: nlb }))).toEqual({});
      await balancers.ensureLoadBalancerDeleted(cluster, service({ annotations: nlb }));
      expect(await balancers.getLoadBalancer(cluster, service({ annotations: nlb }))).toBeUndefined();
      expect(await world.leftovers?.()).toEqual([]);
    });
    it('has a security group of its own when the configuration says so', async () => {
      await open('NLBSecurityGroupMode = Managed');
      await ensure({ annotations: nlb, spec: { loadBalancerSourceRanges: ['10.0.0.0/8'] } });
      const xml = await moto.query('elbv2', 'DescribeLoadBalancers', { 'Names.member.1': name });
      const front = element(xml.slice(xml.indexOf('<SecurityGroups>')), 'member');
      const described = await group(front);
      expect(element(described, 'groupName')).toMatch(/^k8s-shop-web-[0-9a-f]{10}$/);
      expect(ingressIn(described)).toEqual(['icmp 3 10.0.0.0/8', 'tcp 443 10.0.0.0/8', 'tcp 80 10.0.0.0/8']);
      await balancers.ensureLoadBalancerDeleted(cluster, service({ annotations: nlb }));
      expect(await world.leftovers?.()).toEqual([]);
    });
    it('takes the place of a classic one only after that is gone, and is found by the status when the annotation changed', async () => {
      const status = await ensure();
      await expect(ensure({ annotations: nlb, status })).rejects.toThrow('cannot update Load Balancer Type annotation');
      const changed = service({ annotations: nlb, status });
      expect(await balancers.getLoadBalancer(cluster, changed)).toEqual(status);
      await balancers.ensureLoadBalancerDeleted(cluster, changed);
      expect(await world.leftovers?.()).toEqual([]);
    });
  });

  it('leaves Services to the AWS Load Balancer Controller', async () => {
    for (const type of ['external', 'nlb-ip']) {
      const given = service({ annotations: { type } });
      await expect(balancers.ensureLoadBalancer(cluster, given, [])).rejects.toSatisfy(isImplementedElsewhere);
      await expect(balancers.updateLoadBalancer(cluster, given, [])).rejects.toSatisfy(isImplementedElsewhere);
      expect(await balancers.getLoadBalancer(cluster, given)).toBeUndefined();
      await balancers.ensureLoadBalancerDeleted(cluster, given);
    }
    expect(moto.calls).toEqual([]);
  });

  it('knows machines by private DNS name, with type, zone, addresses and zone id', async () => {
    const id = world.instances.get('a') ?? '';
    const xml = await moto.query('ec2', 'DescribeInstances', { 'InstanceId.1': id });
    const dns = element(xml, 'privateDnsName');
    const { instancesV2 } = world.cloud;
    expect(await instancesV2?.instanceMetadata({ metadata: { name: dns } })).toEqual({
      providerId: `aws:///us-east-1a/${id}`,
      instanceType: 'm5.large',
      nodeAddresses: [
        { type: 'InternalIP', address: element(xml, 'privateIpAddress') },
        { type: 'InternalDNS', address: dns },
        { type: 'Hostname', address: dns },
      ],
      zone: 'us-east-1a',
      region: 'us-east-1',
      additionalLabels: { 'topology.k8s.aws/zone-id': 'use1-az6' },
    });
    expect(await instancesV2?.instanceExists({ metadata: { name: `${id}.us-east-1.compute.internal` } })).toBe(true);
    await expect(instancesV2?.instanceMetadata({ metadata: { name: 'nobody' } })).rejects.toSatisfy(isInstanceNotFound);
  });
  it('asks for many machines at once, and alone only after one of them is unknown', async () => {
    const node = (id: string) => ({ metadata: { name: id }, spec: { providerID: `aws:///us-east-1a/${id}` } });
    const { instancesV2 } = world.cloud;
    const known = [...world.instances.values()];
    await Promise.all(known.map((id) => instancesV2?.instanceExists(node(id))));
    expect(moto.calls).toEqual(['DescribeInstances']);
    moto.calls.length = 0;
    const answers = await Promise.all([...known, 'i-0123456789abcdef0'].map((id) => instancesV2?.instanceExists(node(id))));
    expect(answers).toEqual([true, true, false]);
    expect(moto.calls).toHaveLength(4);
  });

  it('asks the controller to wait when AWS is asked too often', async () => {
    moto.failNext('DescribeInstances', 'RequestLimitExceeded', 3);
    const refused = await world.cloud.instancesV2?.instanceExists(world.node('a')).catch((error: unknown) => error);
    expect(retryAfterOf(refused)).toBeGreaterThanOrEqual(5_000);
    expect(moto.calls).toEqual(['DescribeInstances', 'DescribeInstances', 'DescribeInstances']);
  });
  it('finds out from its own instance where it runs, and assumes a role', async () => {
    const own = world.instances.get('a') ?? '';
    const answers: Record<string, string> = {
      'PUT /latest/api/token': 'token',
      'GET /latest/meta-data/placement/region': 'us-east-1',
      'GET /latest/meta-data/instance-id': own,
    };
    const metadata = createServer((request, response) => {
      const answer = answers[`${request.method} ${request.url}`];
      const allowed = request.method === 'PUT' || request.headers['x-aws-ec2-metadata-token'] === 'token';
      response.writeHead(answer !== undefined && allowed ? 200 : 401).end(answer);
    }).listen(0, '127.0.0.1');
    await once(metadata, 'listening');
    try {
      const override = (number: number, Service: string, URL: string): string =>
        `[ServiceOverride "${number}"]\nService = ${Service}\nRegion = us-east-1\nURL = ${URL}\nSigningRegion = us-east-1\n`;
      const { port } = metadata.address() as AddressInfo;
      const config = [
        '[Global]\nRoleARN = arn:aws:iam::123456789012:role/cloud\nSourceARN = arn:aws:eks:us-east-1:123456789012:cluster/prod\n',
        override(1, 'EC2', moto.url),
        override(2, 'STS', moto.url),
        override(3, 'ec2imds', `http://127.0.0.1:${port}`),
      ].join('');
      const cloud = await providerFrom(config);
      expect(cloud.hasClusterId()).toBe(true);
      expect(moto.calls).toEqual(['AssumeRole', 'DescribeInstances']);
      const node = { metadata: { name: own } };
      expect((await cloud.instancesV2?.instanceMetadata(node))?.region).toBe('us-east-1');
    } finally {
      metadata.closeAllConnections();
      metadata.close();
    }
  });

  it('replaces a route whose instance is gone', async () => {
    const { routes } = world.cloud;
    const route = (targetNode: string) => ({ name: '', targetNode, targetNodeAddresses: [], destinationCidr: '10.244.1.0/24' });
    expect(await changes(async () => routes?.createRoute(cluster, 'uid', route('a')))).toEqual([
      'ModifyInstanceAttribute',
      'CreateRoute',
    ]);
    expect(await routes?.listRoutes(cluster)).toEqual([{ ...route('a'), name: 'kubernetes-10.244.1.0/24' }]);
    const attribute = await moto.query('ec2', 'DescribeInstanceAttribute', {
      InstanceId: world.instances.get('a') ?? '',
      Attribute: 'sourceDestCheck',
    });
    expect(element(attribute, 'value')).toBe('false');
    await world.terminateInstance('a');
    expect(await routes?.listRoutes(cluster)).toMatchObject([{ targetNode: '', blackhole: true }]);
    await routes?.createRoute(cluster, 'uid', route('b'));
    expect(await routes?.listRoutes(cluster)).toEqual([{ ...route('b'), name: 'kubernetes-10.244.1.0/24' }]);
  });
});
