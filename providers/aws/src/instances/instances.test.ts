import { describe, expect, it } from 'vitest';
import type { Clock, Logger } from 'sagong/cloud-provider';
import type { Api } from '../clients.ts';
import { interfaceAddresses, nodeAddresses } from './addresses.ts';
import { createBackendInstances } from './backends.ts';
import { createBatcher } from './batcher.ts';
import { instancesById } from './describe.ts';
import { fargateAddress } from './fargate.ts';
import { instanceIdOfNodeName, instanceIdOfProviderId } from './provider-id.ts';
import { createTopology } from './topology.ts';

const logger: Logger = { error() {}, warn() {}, info() {}, debug() {}, with: () => logger };

/** Time that passes when it is told to. */
function handClock() {
  let now = 0;
  const timers = new Set<{ at: number; run: () => void }>();
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    setTimer(delayMs, run) {
      const timer = { at: now + delayMs, run };
      timers.add(timer);
      return { cancel: () => void timers.delete(timer) };
    },
    sleep: () => Promise.resolve(),
  };
  const pass = (ms: number): void => {
    now += ms;
    for (const timer of [...timers].filter(({ at }) => at <= now)) {
      timers.delete(timer);
      timer.run();
    }
  };
  return { clock, pass };
}

describe('ids', () => {
  it.each([
    ['aws:///us-east-1a/i-0123', 'i-0123'],
    ['aws:////i-0123', 'i-0123'],
    ['i-0123', 'i-0123'],
    ['aws:///us-east-1a/fargate-ip-10-0-0-1.ec2.internal', 'fargate-ip-10-0-0-1.ec2.internal'],
    ['aws:///us-east-1a/long/path/i-0123', 'i-0123'],
  ])('in %s', (providerId, id) => expect(instanceIdOfProviderId(providerId)).toBe(id));
  it.each([
    ['gce://p/z/i-0123', 'Invalid scheme'],
    ['aws:///us-east-1a/', 'Invalid format'],
    ['aws:///us-east-1a/node-1', 'Invalid format'],
    ['aws://i-0123', 'Invalid format'],
    ['', 'Invalid format'],
  ])('not in %s', (providerId, problem) => expect(() => instanceIdOfProviderId(providerId)).toThrow(problem));
  it('in names of Nodes', () => {
    expect(instanceIdOfNodeName('i-0123.eu-west-1.compute.internal')).toBe('i-0123');
    expect(instanceIdOfNodeName('i-0123')).toBe('i-0123');
    expect(instanceIdOfNodeName('ip-10-0-0-1.ec2.internal')).toBeUndefined();
  });
  it('of Fargate', () => {
    expect(fargateAddress('fargate-ip-10-0-0-1.ec2.internal')).toBe('10.0.0.1');
    expect(fargateAddress('fargate-10.0.0.1')).toBe('10.0.0.1');
  });
});

describe('addresses', () => {
  const network = (DeviceIndex: number | undefined, Status: string, ips: string[], v6: string[] = []) => ({
    Status: Status as 'in-use',
    ...(DeviceIndex !== undefined && { Attachment: { DeviceIndex } }),
    PrivateIpAddresses: ips.map((PrivateIpAddress) => ({ PrivateIpAddress })),
    Ipv6Addresses: v6.map((Ipv6Address) => ({ Ipv6Address })),
  });
  const instance = {
    NetworkInterfaces: [
      network(1, 'in-use', ['10.0.0.3'], ['fd00::3', 'fd00::4']),
      network(undefined, 'in-use', ['10.0.0.9']),
      network(0, 'in-use', ['10.0.0.1', '10.0.0.2'], ['fd00::1']),
      network(2, 'detaching', ['10.0.0.8']),
    ],
    PublicIpAddress: '203.0.113.1',
    PrivateDnsName: 'ip-10-0-0-1.ec2.internal',
    PublicDnsName: 'ec2-203-0-113-1.compute-1.amazonaws.com',
  };
  const shown = (families: ('ipv4' | 'ipv6')[]) =>
    nodeAddresses(instance, families).map(({ type, address }) => `${type} ${address}`);
  it('come from interfaces in use, by device, then from outside, then names', () => {
    expect(shown(['ipv4'])).toEqual([
      'InternalIP 10.0.0.1',
      'InternalIP 10.0.0.2',
      'InternalIP 10.0.0.3',
      'InternalIP 10.0.0.9',
      'ExternalIP 203.0.113.1',
      'InternalDNS ip-10-0-0-1.ec2.internal',
      'Hostname ip-10-0-0-1.ec2.internal',
      'ExternalDNS ec2-203-0-113-1.compute-1.amazonaws.com',
    ]);
  });
  it('follow the order of families', () => {
    expect(shown(['ipv6'])).toEqual(['InternalIP fd00::1', 'InternalIP fd00::3']);
    expect(shown(['ipv6', 'ipv4']).slice(0, 3)).toEqual(['InternalIP fd00::1', 'InternalIP fd00::3', 'InternalIP 10.0.0.1']);
  });
  it('are left out when AWS has none', () => expect(nodeAddresses({ PrivateDnsName: '' }, ['ipv4', 'ipv6'])).toEqual([]));
  it('of Fargate are those of the interface', () => {
    expect(interfaceAddresses({ PrivateIpAddress: '10.0.0.1', PrivateDnsName: 'x' }, ['ipv4', 'ipv6'])).toEqual([
      { type: 'InternalIP', address: '10.0.0.1' },
      { type: 'InternalDNS', address: 'x' },
    ]);
  });
});

describe('batches', () => {
  const wrong = new Error('one of them is wrong');
  function setUp(sizeMax = 500) {
    const { clock, pass } = handClock();
    const asked: string[][] = [];
    const ask = createBatcher<string>({
      clock,
      sizeMax,
      ask(keys) {
        asked.push(keys);
        if (keys.includes('outage')) return Promise.reject(new Error('outage'));
        if (keys.includes('bad')) return Promise.reject(wrong);
        return Promise.resolve(new Map(keys.filter((key) => key !== 'gone').map((key) => [key, `${key}!`])));
      },
      failsAlone: (error) => error === wrong,
    });
    return { ask, asked, pass };
  }
  it('leave when nobody has asked for a while, and at most a second later', async () => {
    const { ask, asked, pass } = setUp();
    const answers = [ask('a'), ask('b'), ask('a'), ask('gone')];
    pass(99);
    expect(asked).toEqual([]);
    pass(1);
    expect(await Promise.all(answers)).toEqual(['a!', 'b!', 'a!', undefined]);
    expect(asked).toEqual([['a', 'b', 'gone']]);
    const late = Array.from({ length: 12 }, (_, index) => {
      const answer = ask(`k${index}`);
      pass(90);
      return answer;
    });
    pass(10);
    expect(asked[1]).toHaveLength(12);
    await Promise.all(late);
  });
  it('leave when they are full', async () => {
    const { ask, asked } = setUp(2);
    await Promise.all([ask('a'), ask('b')]);
    expect(asked).toEqual([['a', 'b']]);
  });
  it('are asked one by one when one key is to blame, and fail as a whole otherwise', async () => {
    const { ask, asked, pass } = setUp();
    const blamed = Promise.allSettled([ask('a'), ask('bad')]);
    pass(100);
    expect((await blamed).map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(asked).toEqual([['a', 'bad'], ['a'], ['bad']]);
    const failed = Promise.allSettled([ask('a'), ask('outage')]);
    pass(100);
    expect((await failed).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(asked).toHaveLength(4);
  });
});

describe('an answer without its list', () => {
  it('says nothing about instances', async () => {
    const api = { ec2: () => Promise.resolve({}) } as unknown as Api;
    await expect(instancesById(api, ['i-1'])).rejects.toThrow('no list of reservations');
  });
});

describe('backends', () => {
  const tags = [{ Key: 'kubernetes.io/cluster/prod', Value: 'owned' }];
  const node = (id: string) => ({ metadata: { name: id }, spec: { providerID: `aws:///z/${id}` } });
  it('come from one list of all instances, that is read again for new ones and after ten minutes', async () => {
    const { clock, pass } = handClock();
    const cloud = ['i-1', 'i-2'];
    let reads = 0;
    const api = {
      ec2: () => {
        reads += 1;
        return Promise.resolve({ Reservations: cloud.map((InstanceId) => ({ Instances: [{ InstanceId, Tags: tags }] })) });
      },
    } as unknown as Api;
    const backends = createBackendInstances(api, { id: 'prod', legacy: false }, clock, logger);
    const ids = async (...nodes: string[]) => [...(await backends.of(nodes.map(node))).keys()];
    expect(await ids()).toEqual([]);
    expect(reads).toBe(0);
    expect(await ids('i-1', 'i-2')).toEqual(['i-1', 'i-2']);
    expect(await ids('i-2')).toEqual(['i-2']);
    expect(reads).toBe(1);
    cloud.push('i-3');
    expect(await ids('i-3', 'i-unknown')).toEqual(['i-3']);
    expect(reads).toBe(2);
    pass(600_001);
    await ids('i-1');
    expect(reads).toBe(3);
    expect([...(await backends.of([{ metadata: { name: 'no-id' } }, node('fargate-10.0.0.1')])).keys()]).toEqual([]);
  });
});

describe('topology', () => {
  function setUp(answer: () => unknown) {
    const { clock, pass } = handClock();
    let calls = 0;
    const api = {
      ec2: async () => {
        calls += 1;
        return answer();
      },
    } as unknown as Api;
    const topology = createTopology(api, { region: 'r', clock, logger });
    return { topology, pass, calls: () => calls };
  }
  const refused = (Code: string) => () => {
    throw Object.assign(new Error(Code), { Code });
  };
  const small = { id: 'i-1', type: 'm5.large' };
  const accelerated = { id: 'i-2', type: 'p5.48xlarge' };

  it('gives a label for each layer', async () => {
    const { topology } = setUp(() => ({ Instances: [{ NetworkNodes: ['nn-1', 'nn-2'] }] }));
    expect(await topology.labelsOf(accelerated)).toEqual({
      'topology.k8s.aws/network-node-layer-1': 'nn-1',
      'topology.k8s.aws/network-node-layer-2': 'nn-2',
    });
  });
  it('remembers for a day which types have none', async () => {
    const { topology, calls, pass } = setUp(() => ({ Instances: [] }));
    await topology.labelsOf(small);
    expect(await topology.labelsOf({ ...small, id: 'i-9' })).toEqual({});
    expect(calls()).toBe(1);
    pass(86_400_001);
    await topology.labelsOf(small);
    expect(calls()).toBe(2);
    expect(await topology.labelsOf({ id: 'i-1', type: '' })).toEqual({});
    expect(calls()).toBe(2);
  });
  it('remembers regions where it may not ask', async () => {
    const { topology, calls } = setUp(refused('UnauthorizedOperation'));
    expect(await topology.labelsOf(accelerated)).toEqual({});
    await topology.labelsOf(small);
    expect(calls()).toBe(1);
  });
  it('must be there for some types', async () => {
    const { topology } = setUp(refused('InternalError'));
    expect(await topology.labelsOf(small)).toEqual({});
    await expect(topology.labelsOf(accelerated)).rejects.toThrow('InternalError');
  });
});
