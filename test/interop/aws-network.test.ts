// What Services do to network load balancers of AWS: whole lives against moto, with the calls that are made.
import { describe, expect, it } from 'vitest';
import { element, elements, ingressIn, pythonWithMoto } from './aws-moto.ts';
import { name, onMoto, service } from './aws-services.ts';
import { cluster } from './aws-world.ts';

const python = await pythonWithMoto();

describe.skipIf(python === undefined)('network load balancers, on moto (skipped without python3 and PyPI)', () => {
  const on = onMoto(python);
  describe('a network load balancer', () => {
    const nlb = { type: 'nlb' };
    const listeners = async (): Promise<string> => {
      const arn = element(await on.moto.query('elbv2', 'DescribeLoadBalancers', { 'Names.member.1': name }), 'LoadBalancerArn');
      return on.moto.query('elbv2', 'DescribeListeners', { LoadBalancerArn: arn });
    };
    it('is made, and changed no more than it must be', async () => {
      const made = await on.changes(async () => {
        expect(await on.ensure({ annotations: nlb })).toEqual({
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
      expect(ingressIn(await on.group(on.world.nodeGroup))).toEqual([
        'icmp 3 0.0.0.0/0',
        'tcp 30080 0.0.0.0/0',
        'tcp 30443 0.0.0.0/0',
      ]);
      const status = (await on.balancers.getLoadBalancer(cluster, service({ annotations: nlb }))) ?? {};
      expect(await on.changes(() => on.ensure({ annotations: nlb, status }))).toEqual([]);
    });
    it('follows ports, source ranges and nodes', async () => {
      await on.ensure({ annotations: nlb });
      const spec = {
        ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 31_000 }],
        loadBalancerSourceRanges: ['10.0.0.0/8'],
      };
      expect(await on.changes(() => on.ensure({ annotations: nlb, spec }, [on.world.node('b')]))).toEqual([
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
      expect(ingressIn(await on.group(on.world.nodeGroup))).toEqual([
        'icmp 3 10.0.0.0/8',
        'tcp 31000 10.0.0.0/8 10.1.0.0/18 10.1.64.0/18',
      ]);
      expect(await on.world.backends?.(service())).toEqual(['b']);
    });
    it('ends TLS, and goes back to TCP on the same port', async () => {
      const annotations = {
        ...nlb,
        'ssl-cert': 'arn:aws:iam::123456789012:server-certificate/web',
        'ssl-ports': '443',
        'ssl-negotiation-policy': 'ELBSecurityPolicy-TLS13-1-2-2021-06',
      };
      await on.ensure({ annotations });
      expect(elements(await listeners(), 'Protocol')).toEqual(['TCP', 'TLS']);
      expect(elements(await listeners(), 'SslPolicy')).toContain('ELBSecurityPolicy-TLS13-1-2-2021-06');
      expect(await on.changes(() => on.ensure({ annotations }))).toEqual([]);
      expect(await on.changes(() => on.ensure({ annotations: nlb }))).toEqual(['ModifyListener']);
      expect(elements(await listeners(), 'Protocol')).toEqual(['TCP', 'TCP']);
    });
    it('serves UDP, with TCP health checks', async () => {
      const spec = { ports: [{ name: 'dns', protocol: 'UDP', port: 53, nodePort: 30_053 }] };
      await on.ensure({ annotations: nlb, spec });
      expect(element(await listeners(), 'Protocol')).toBe('UDP');
      expect(ingressIn(await on.group(on.world.nodeGroup))).toEqual([
        'icmp 3 0.0.0.0/0',
        'tcp 30053 10.1.0.0/18 10.1.64.0/18',
        'udp 30053 0.0.0.0/0',
      ]);
      const moved = { ports: [{ name: 'dns', protocol: 'UDP', port: 53, nodePort: 31_053 }] };
      expect(await on.changes(() => on.ensure({ annotations: nlb, spec: moved }))).toEqual([
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
      await on.ensure({ annotations, spec: { externalTrafficPolicy: 'Local', healthCheckNodePort: 32_000 } });
      const groups = await on.moto.query('elbv2', 'DescribeTargetGroups');
      expect(elements(groups, 'HealthCheckProtocol')).toEqual(['HTTP', 'HTTP']);
      expect(elements(groups, 'HealthCheckPort')).toEqual(['32000', '32000']);
      expect(elements(groups, 'HealthCheckPath')).toEqual(['/healthz', '/healthz']);
      expect(on.moto.calls.filter((call) => call === 'ModifyTargetGroupAttributes')).toHaveLength(2);
    });
    it('leaves nothing when it is deleted, and exists while pieces of it are left', async () => {
      on.moto.failNext('CreateListener', 'TooManyListeners');
      await expect(on.ensure({ annotations: nlb })).rejects.toThrow('TooManyListeners');
      const arn = element(await on.moto.query('elbv2', 'DescribeLoadBalancers'), 'LoadBalancerArn');
      await on.moto.query('elbv2', 'DeleteLoadBalancer', { LoadBalancerArn: arn });
      expect(await on.balancers.getLoadBalancer(cluster, service({ annotations: nlb }))).toEqual({});
      await on.balancers.ensureLoadBalancerDeleted(cluster, service({ annotations: nlb }));
      expect(await on.balancers.getLoadBalancer(cluster, service({ annotations: nlb }))).toBeUndefined();
      expect(await on.world.leftovers?.()).toEqual([]);
    });
    it('has a security group of its own when the configuration says so', async () => {
      await on.open('NLBSecurityGroupMode = Managed');
      await on.ensure({ annotations: nlb, spec: { loadBalancerSourceRanges: ['10.0.0.0/8'] } });
      const xml = await on.moto.query('elbv2', 'DescribeLoadBalancers', { 'Names.member.1': name });
      const front = element(xml.slice(xml.indexOf('<SecurityGroups>')), 'member');
      const described = await on.group(front);
      expect(element(described, 'groupName')).toMatch(/^k8s-shop-web-[0-9a-f]{10}$/);
      expect(ingressIn(described)).toEqual(['icmp 3 10.0.0.0/8', 'tcp 443 10.0.0.0/8', 'tcp 80 10.0.0.0/8']);
      await on.balancers.ensureLoadBalancerDeleted(cluster, service({ annotations: nlb }));
      expect(await on.world.leftovers?.()).toEqual([]);
    });
    it('takes the place of a classic one only after that is gone, and is found by the status when the annotation changed', async () => {
      const status = await on.ensure();
      await expect(on.ensure({ annotations: nlb, status })).rejects.toThrow('cannot update Load Balancer Type annotation');
      const changed = service({ annotations: nlb, status });
      expect(await on.balancers.getLoadBalancer(cluster, changed)).toEqual(status);
      await on.balancers.ensureLoadBalancerDeleted(cluster, changed);
      expect(await on.world.leftovers?.()).toEqual([]);
    });
  });
});
