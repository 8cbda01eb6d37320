import { describe, expect, it } from 'vitest';
import { validateConfig } from 'sagong/cloud-provider';
import { checkConfig, parseConfig, regionOfZone } from './config.ts';
import { endpointOf, type ServiceId } from './overrides.ts';
import { type AwsConfig, configSchema } from './schema.ts';

const read = (text: string): AwsConfig => validateConfig('aws', configSchema, parseConfig(text)) as AwsConfig;
const global = (line: string) => read(`[Global]\n${line}`).Global as unknown as Record<string, unknown>;

describe('fields', () => {
  it('have the defaults of upstream', () => {
    expect(read('')).toEqual({
      Global: {
        DisableSecurityGroupIngress: false,
        NodeIPFamilies: ['ipv4'],
        ClusterServiceLoadBalancerHealthProbeMode: 'ServiceNodePort',
        ClusterServiceSharedLoadBalancerHealthProbePort: 10_256,
        ClusterServiceSharedLoadBalancerHealthProbePath: '/healthz',
      },
      ServiceOverride: {},
    });
  });
  it.each<[string, string, unknown]>([
    ['plain text', 'VPC = vpc-1', { VPC: 'vpc-1' }],
    ['no blanks', 'VPC=vpc-1', { VPC: 'vpc-1' }],
    ['any case', 'kubernetesclusterid = prod', { KubernetesClusterID: 'prod' }],
    ['a comment behind', 'VPC = vpc-1 # ours', { VPC: 'vpc-1' }],
    ['quotes and escapes', 'VPC = "a # \\"b\\"\\\\ "', { VPC: 'a # "b"\\ ' }],
    ['a line that goes on', 'VPC = vpc\\\n-1', { VPC: 'vpc-1' }],
    ['a key alone', 'DisableSecurityGroupIngress', { DisableSecurityGroupIngress: true }],
    ['a word for true', 'DisableSecurityGroupIngress = Yes', { DisableSecurityGroupIngress: true }],
    ['a word for false', 'DisableSecurityGroupIngress = off', { DisableSecurityGroupIngress: false }],
    ['several lines', 'NodeIPFamilies = ipv6\nNodeIPFamilies = ipv4', { NodeIPFamilies: ['ipv6', 'ipv4'] }],
    [
      'a number',
      'ClusterServiceSharedLoadBalancerHealthProbePort = 8080',
      { ClusterServiceSharedLoadBalancerHealthProbePort: 8080 },
    ],
    ['nothing, which counts as not given', 'Zone =', {}],
  ])('%s', (_what, line, expected) => expect(global(line)).toMatchObject(expected as object));
});

describe('mistakes are named', () => {
  it.each<[string, string]>([
    ['[Global]\nRegoin = x', 'Global.Regoin: is not known; known are Zone, Region'],
    ['[Global]\nNodeIPFamilies = ipv5', 'Global.NodeIPFamilies[0]: must be one of ipv4, ipv6, not "ipv5"'],
    ['[Global]\nDisableSecurityGroupIngress = maybe', 'Global.DisableSecurityGroupIngress: must be a boolean'],
    ['[Global]\nClusterServiceSharedLoadBalancerHealthProbePort = 1x', 'HealthProbePort: must be an integer'],
    ['[Global]\nNLBSecurityGroupMode = managed', 'Global.NLBSecurityGroupMode: must be one of Managed'],
    ['[Global]\nZone', 'Global.Zone: must not be empty'],
    ['[Globul]\n', 'line 1: section [Globul] is not known'],
    ['[Global "x"]', '[Global] takes no name'],
    ['[ServiceOverride]', 'line 1: [ServiceOverride "1"] needs a name'],
    ['[ServiceOverride "1"]\nService = EC2', 'ServiceOverride.1.Region: is required; ServiceOverride.1.URL: is required'],
    ['VPC = x', 'line 1: VPC is in no section'],
    ['[Global]\nVPC vpc-1', 'line 2: VPC must be followed by "="'],
    ['[Global]\nVPC = "a', 'line 2: a quotation mark is missing'],
    ['[Global]\nVPC = \\q', 'line 2: unknown escape sequence \\q'],
    ['[Global', 'line 1: not a section header'],
    ['[Global]\n= 1', 'line 2: neither a section nor'],
  ])('in %j', (text, problem) => expect(() => read(text)).toThrow(problem));

  const override = (name: string, service: string): string =>
    `[ServiceOverride "${name}"]\nService = ${service}\nRegion = r\nURL = http://x\nSigningRegion = r\n`;
  it.each<[string, string]>([
    [override('1', 'EC2') + override('2', 'EC2'), 'duplicate entry found for service override [2] (EC2 in r)'],
    ['[Global]\nKubernetesClusterTag = a\nKubernetesClusterID = b', 'clusterID tags did not match: "b" vs "a"'],
    ['[Global]\nSupportedTopologyInstanceTypePattern = (', 'Global.SupportedTopologyInstanceTypePattern'],
    ['[Global]\nSourceARN = arn:aws:eks:x:123456789012:c', 'Global.SourceARN has no effect without Global.RoleARN'],
  ])('%j', (text, problem) => expect(() => checkConfig(read(text))).toThrow(problem));
});

describe('endpoints', () => {
  const config = read(
    [
      '[ServiceOverride "1"]\nService = Elastic Load Balancing\nRegion = eu-west-1\nURL = http://elb\nSigningRegion = s\nSigningName = n',
      '[ServiceOverride "2"]\nService = ec2\nRegion = eu-west-1\nURL = http://ec2\nSigningRegion = s',
      '[ServiceOverride "3"]\nService = elasticloadbalancing\nRegion = us-east-1\nURL = http://both\nSigningRegion = s',
      '[ServiceOverride "4"]\nService = ec2imds\nRegion = any\nURL = http://imds\nSigningRegion = s',
    ].join('\n'),
  );
  it.each<[ServiceId, string | undefined, object]>([
    ['Elastic Load Balancing', 'eu-west-1', { endpoint: 'http://elb', signingRegion: 's', signingName: 'n' }],
    ['Elastic Load Balancing v2', 'eu-west-1', {}],
    ['Elastic Load Balancing v2', 'us-east-1', { endpoint: 'http://both', signingRegion: 's' }],
    ['EC2', 'eu-west-1', { endpoint: 'http://ec2', signingRegion: 's' }],
    ['EC2', 'us-east-1', {}],
    ['ec2imds', undefined, { endpoint: 'http://imds', signingRegion: 's' }],
    ['STS', 'eu-west-1', {}],
  ])('%s in %s', (id, region, expected) => expect(endpointOf(config, id, region)).toEqual(expected));
});

it.each([
  ['us-east-1a', 'us-east-1'],
  ['us-west-2-lax-1a', 'us-west-2'],
  ['us-gov-west-1b', 'us-gov-west-1'],
])('%s is in %s', (zone, region) => expect(regionOfZone(zone)).toBe(region));
it('refuses what is no zone', () => {
  expect(() => regionOfZone('')).toThrow('invalid (empty) AZ');
  expect(() => regionOfZone('here')).toThrow('invalid AZ: here');
});
