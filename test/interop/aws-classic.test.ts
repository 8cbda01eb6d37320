// What Services do to classic load balancers of AWS: whole lives against moto, with the calls that are made.
import { describe, expect, it } from 'vitest';
import { element, elements, ingressIn, pythonWithMoto } from './aws-moto.ts';
import { name, onMoto, service, uid } from './aws-services.ts';
import { cluster } from './aws-world.ts';

const python = await pythonWithMoto();

describe.skipIf(python === undefined)('classic load balancers, on moto (skipped without python3 and PyPI)', () => {
  const on = onMoto(python);
  const classic = (): Promise<string> => on.moto.query('elb', 'DescribeLoadBalancers', { 'LoadBalancerNames.member.1': name });
  describe('a classic load balancer', () => {
    it('is made in the order of what it stands on, and changed no more than it must be', async () => {
      const made = await on.changes(async () => {
        expect(await on.ensure()).toEqual({ ingress: [{ hostname: `${name}.us-east-1.elb.amazonaws.com` }] });
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
      expect((await on.world.backends?.(service()))?.toSorted()).toEqual(['a', 'b']);
      expect(await on.changes(() => on.ensure())).toEqual([]);
    });
    it('carries the tags of cluster, Service and user', async () => {
      await on.ensure({ annotations: { 'additional-resource-tags': 'team=blue,empty' } });
      const tags = await on.moto.query('elb', 'DescribeTags', { 'LoadBalancerNames.member.1': name });
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
      await on.ensure();
      const spec = {
        ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 31_000 }],
        loadBalancerSourceRanges: ['10.9.8.7/8', '192.168.0.0/16'],
      };
      expect(await on.changes(() => on.ensure({ spec }, [on.world.node('b')]))).toEqual([
        'AuthorizeSecurityGroupIngress',
        'RevokeSecurityGroupIngress',
        'DeleteLoadBalancerListeners',
        'CreateLoadBalancerListeners',
        'ConfigureHealthCheck',
        'DeregisterInstancesFromLoadBalancer',
      ]);
      const xml = await classic();
      expect(elements(xml, 'InstancePort')).toEqual(['31000']);
      const rules = ingressIn(await on.group(element(xml.slice(xml.indexOf('<SecurityGroups>')), 'member')));
      expect(rules).toEqual(['icmp 3 10.0.0.0/8 192.168.0.0/16', 'tcp 80 10.0.0.0/8 192.168.0.0/16']);
      expect(await on.changes(() => on.ensure({ spec }, [on.world.node('b')]))).toEqual([]);
    });
    it('asks the health port where the traffic policy is Local', async () => {
      await on.ensure({ spec: { externalTrafficPolicy: 'Local', healthCheckNodePort: 32_000 } });
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
      await on.ensure({ annotations });
      expect(await classic()).toContain('<member>k8s-proxyprotocol-enabled</member>');
      const attributes = await on.moto.query('elb', 'DescribeLoadBalancerAttributes', { LoadBalancerName: name });
      expect([element(attributes, 'IdleTimeout'), element(attributes, 'Timeout')]).toEqual(['120', '30']);
      expect(await on.changes(() => on.ensure({ annotations }))).toEqual([]);
      expect(await on.changes(() => on.ensure())).toEqual([
        'SetLoadBalancerPoliciesForBackendServer',
        'SetLoadBalancerPoliciesForBackendServer',
        'ModifyLoadBalancerAttributes',
      ]);
    });
    it('lets its group in to the nodes, and only while it is there', async () => {
      await on.ensure();
      const xml = await classic();
      const front = element(xml.slice(xml.indexOf('<SecurityGroups>')), 'member');
      expect(ingressIn(await on.group(on.world.nodeGroup))).toEqual([`-1 ${front}`]);
      await on.balancers.ensureLoadBalancerDeleted(cluster, service());
      expect(ingressIn(await on.group(on.world.nodeGroup))).toEqual([]);
    });
    it('is deleted with a security group that stays in use for a while', async () => {
      await on.ensure();
      on.moto.groupsBusy(2);
      expect(await on.changes(() => on.balancers.ensureLoadBalancerDeleted(cluster, service()))).toEqual([
        'RevokeSecurityGroupIngress',
        'DeleteLoadBalancer',
        'DeleteSecurityGroup',
        'DeleteSecurityGroup',
        'DeleteSecurityGroup',
      ]);
      expect(await on.world.leftovers?.()).toEqual([]);
    });
    it('exists while its security group is left', async () => {
      on.moto.failNext('CreateLoadBalancer', 'TooManyLoadBalancers');
      await expect(on.ensure()).rejects.toThrow('TooManyLoadBalancers');
      expect(await on.balancers.getLoadBalancer(cluster, service())).toEqual({});
      await on.balancers.ensureLoadBalancerDeleted(cluster, service());
      expect(await on.balancers.getLoadBalancer(cluster, service())).toBeUndefined();
      expect(await on.world.leftovers?.()).toEqual([]);
    });
    it('leaves groups of the user alone, and a shared one open while another load balancer has it', async () => {
      const groupId = element(
        await on.moto.query('ec2', 'CreateSecurityGroup', { VpcId: on.world.vpcId, GroupName: 'mine', GroupDescription: 'mine' }),
        'groupId',
      );
      const annotations = { 'security-groups': groupId };
      const other = service({ annotations });
      other.metadata.uid = uid.replaceAll('1', '9');
      await on.ensure({ annotations });
      await on.balancers.ensureLoadBalancer(cluster, other, [on.world.node('a')]);
      await on.balancers.ensureLoadBalancerDeleted(cluster, service({ annotations }));
      expect(ingressIn(await on.group(on.world.nodeGroup))).toEqual([`-1 ${groupId}`]);
      await on.balancers.ensureLoadBalancerDeleted(cluster, other);
      expect(ingressIn(await on.group(on.world.nodeGroup))).toEqual([]);
      expect(await on.group(groupId)).toContain('<groupName>mine<');
    });
    it('takes back its own rule alone where a group was named and is named no longer', async () => {
      const { nodeGroup } = on.world;
      const made = await on.moto.query('ec2', 'CreateSecurityGroup', {
        VpcId: on.world.vpcId,
        GroupName: 'app',
        GroupDescription: 'app',
      });
      const app = element(made, 'groupId');
      // The cluster owns it, as tools that make clusters often tag the groups of nodes.
      await on.moto.query('ec2', 'CreateTags', {
        'ResourceId.1': app,
        'Tag.1.Key': `kubernetes.io/cluster/${cluster}`,
        'Tag.1.Value': 'owned',
      });
      const admit = (group: string, more: Record<string, string>): Promise<string> =>
        on.moto.query('ec2', 'AuthorizeSecurityGroupIngress', {
          GroupId: nodeGroup,
          'IpPermissions.1.Groups.1.GroupId': group,
          ...Object.fromEntries(Object.entries(more).map(([key, value]) => [`IpPermissions.1.${key}`, value])),
        });
      await admit(nodeGroup, { IpProtocol: '-1' });
      await admit(app, { IpProtocol: 'tcp', FromPort: '5432', ToPort: '5432' });
      const before = ingressIn(await on.group(nodeGroup));
      expect(before).toEqual([`-1 ${nodeGroup}`, `tcp 5432 ${app}`]);

      const all = { IpProtocol: '-1' };
      await admit(app, all);
      await on.ensure({ annotations: { 'extra-security-groups': `${nodeGroup},${app}` } });
      await on.ensure();
      expect(ingressIn(await on.group(nodeGroup))[0]).toContain(app);
      await on.moto.query('ec2', 'RevokeSecurityGroupIngress', {
        GroupId: nodeGroup,
        'IpPermissions.1.Groups.1.GroupId': app,
        'IpPermissions.1.IpProtocol': '-1',
      });
      expect(ingressIn(await on.group(nodeGroup))).toEqual([expect.stringContaining(nodeGroup), `tcp 5432 ${app}`]);
      for (const named of [nodeGroup, app]) {
        const annotations = { 'security-groups': named };
        await on.ensure({ annotations });
        await on.balancers.ensureLoadBalancerDeleted(cluster, service({ annotations }));
        expect(ingressIn(await on.group(nodeGroup))).toEqual(before);
      }
      expect(await on.group(app)).toContain('<groupName>app<');
    });
    it('chooses nodes by labels, and says when there is nothing to update', async () => {
      const annotations = { 'target-node-labels': 'pool=front,gpu' };
      await expect(on.balancers.updateLoadBalancer(cluster, service(), [])).rejects.toThrow('Load balancer not found');
      await on.ensure({ annotations }, [on.world.node('a', { pool: 'front', gpu: '' }), on.world.node('b', { pool: 'front' })]);
      expect(await on.world.backends?.(service())).toEqual(['a']);
    });
    it('ends TLS with the policy that is asked for', async () => {
      const annotations = {
        'ssl-cert': 'arn:aws:iam::123456789012:server-certificate/web',
        'ssl-ports': 'https',
        'ssl-negotiation-policy': 'ELBSecurityPolicy-TLS-1-2-2017-01',
        'backend-protocol': 'https',
      };
      const made = await on.changes(() => on.ensure({ annotations }));
      expect(made.filter((call) => call.includes('Polic'))).toEqual([
        'CreateLoadBalancerPolicy',
        'SetLoadBalancerPoliciesOfListener',
      ]);
      const xml = await classic();
      expect(elements(xml, 'Protocol')).toEqual(['TCP', 'HTTPS']);
      expect(xml).toContain('<member>k8s-SSLNegotiationPolicy-ELBSecurityPolicy-TLS-1-2-2017-01</member>');
      expect(await on.changes(() => on.ensure({ annotations }))).toEqual([]);
      expect(
        await on.changes(() => on.balancers.updateLoadBalancer(cluster, service({ annotations }), [on.world.node('a')])),
      ).toEqual(['DeregisterInstancesFromLoadBalancer']);
    });
    it('is only found inside when internal, in subnets that are named', async () => {
      await on.ensure({ annotations: { internal: 'true', subnets: on.world.subnets[1] ?? '' } });
      const xml = await classic();
      expect(element(xml, 'Scheme')).toBe('internal');
      expect(element(xml.slice(xml.indexOf('<Subnets>')), 'member')).toBe(on.world.subnets[1]);
    });
  });
});
