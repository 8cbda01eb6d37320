// The emulated AWS as anybody may ask it: who has no key gets nothing, and every refusal has AWS's form.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  DescribeInstancesCommand,
  DescribeSubnetsCommand,
  EC2Client,
  RunInstancesCommand,
  StopInstancesCommand,
} from '@aws-sdk/client-ec2';
import { DescribeLoadBalancersCommand, ElasticLoadBalancingV2Client } from '@aws-sdk/client-elastic-load-balancing-v2';
import { type EmulatedAws, emulatedAws, region } from './aws-world.ts';

let world: EmulatedAws;
let ec2: EC2Client;
const clientOptions = (secretAccessKey = world.key.secretAccessKey) => ({
  region,
  endpoint: world.server.url,
  credentials: { ...world.key, secretAccessKey },
});
beforeAll(async () => {
  world = await emulatedAws();
  ec2 = new EC2Client(clientOptions());
  await world.addInstance('a');
  await world.addInstance('b');
});
afterAll(async () => {
  ec2?.destroy();
  await world?.close();
});

const post = async (body: string): Promise<string> => {
  const answer = await fetch(world.server.url, { method: 'POST', body });
  return `${answer.status} ${await answer.text()}`;
};

describe('who has no key', () => {
  it.each([
    ['2016-11-15', '<Response><Errors><Error><Code>MissingAuthenticationToken<'],
    ['2015-12-01', '<Error><Type>Sender</Type><Code>MissingAuthenticationToken<'],
    ['nonsense', 'MissingAuthenticationToken'],
  ])('is refused in the form of version %s', async (version, expected) => {
    const answer = await post(`Action=DescribeInstances&Version=${version}`);
    expect(answer).toMatch(/^403 /);
    expect(answer).toContain(expected);
  });
  it('cannot make it read what is large', async () => {
    expect(await post(Array.from({ length: 50_000 }, (_, index) => `a${index}=`).join('&'))).toMatch(/^403 /);
    expect(await post('a'.repeat(600_000))).toMatch(/^413 /);
  });
  it('is refused with a wrong secret', async () => {
    const stranger = new EC2Client(clientOptions('wrong'));
    await expect(stranger.send(new DescribeInstancesCommand({}))).rejects.toMatchObject({ name: 'SignatureDoesNotMatch' });
    stranger.destroy();
  });
});

describe('who has the key', () => {
  it('finds instances in pages and by filters', async () => {
    const first = await ec2.send(new DescribeInstancesCommand({ MaxResults: 1 }));
    expect(first.Reservations).toHaveLength(1);
    const second = await ec2.send(new DescribeInstancesCommand({ NextToken: first.NextToken }));
    expect(second.Reservations).toHaveLength(1);
    expect(second.NextToken).toBeUndefined();
    const Filters = [{ Name: 'tag:Name', Values: ['nobody'] }];
    expect((await ec2.send(new DescribeInstancesCommand({ Filters }))).Reservations).toEqual([]);
  });
  it.each<[string, () => Promise<unknown>, string]>([
    [
      'an unknown id',
      () => ec2.send(new DescribeInstancesCommand({ InstanceIds: ['i-00000000'] })),
      'InvalidInstanceID.NotFound',
    ],
    ['a malformed id', () => ec2.send(new DescribeInstancesCommand({ InstanceIds: ['x'] })), 'InvalidInstanceID.Malformed'],
    [
      'an unknown filter',
      () => ec2.send(new DescribeSubnetsCommand({ Filters: [{ Name: 'colour', Values: ['red'] }] })),
      'InvalidParameterValue',
    ],
    [
      'what the local cloud cannot do',
      () => ec2.send(new RunInstancesCommand({ MinCount: 1, MaxCount: 1, ImageId: 'ami-1' })),
      'UnsupportedOperation',
    ],
  ])('is told of %s', async (_what, ask, code) => {
    await expect(ask()).rejects.toMatchObject({ name: code });
  });
  it('is told of a load balancer that is not there in the words of the other API', async () => {
    const elbv2 = new ElasticLoadBalancingV2Client(clientOptions());
    await expect(elbv2.send(new DescribeLoadBalancersCommand({ Names: ['toString'] }))).rejects.toMatchObject({
      name: 'LoadBalancerNotFoundException',
    });
    elbv2.destroy();
  });
  it('powers instances off, and is throttled when the local cloud is', async () => {
    const id = world.instances.get('b') ?? '';
    const { StoppingInstances } = await ec2.send(new StopInstancesCommand({ InstanceIds: [id] }));
    expect(StoppingInstances?.[0]).toMatchObject({ InstanceId: id, PreviousState: { Name: 'running' } });
    world.memory.setFaults({ throttleRate: 1 });
    const once = new EC2Client({ ...clientOptions(), maxAttempts: 1 });
    await expect(once.send(new DescribeInstancesCommand({}))).rejects.toMatchObject({ name: 'RequestLimitExceeded' });
    world.memory.setFaults({});
    once.destroy();
  });
});
