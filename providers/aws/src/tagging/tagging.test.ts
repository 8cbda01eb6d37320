import type { CreateTagsCommand, DeleteTagsCommand } from '@aws-sdk/client-ec2';
import { describe, expect, it } from 'vitest';
import type { Clock, CloudPlan, Logger, Node } from 'sagong/cloud-provider';
import type { Api } from '../clients.ts';
import { tagCalls } from './calls.ts';
import { taggingController } from './controller.ts';
import { taggingOptionsOf, taggingProblem } from './options.ts';
import { tokenBucket } from './pace.ts';
import { addKey, checksumOf, deleteKey, reconcileTags, taggedLabel, type TaggingView } from './reconcile.ts';

const logger: Logger = { error() {}, warn() {}, info() {}, debug() {}, with: () => logger };
const tags = { team: 'blue', env: 'test' };
const checksum = checksumOf(tags);
const providerID = 'aws:///us-east-1a/i-0123';
const node = (more: Partial<Node['metadata']> = {}): Node => ({
  metadata: { name: 'n', uid: 'u', creationTimestamp: '1970-01-01T00:00:00Z', ...more },
  spec: { providerID },
});
const refused = (Code: string): Error => Object.assign(new Error('refused'), { name: Code, Code });

describe('the flags of the tagging controller', () => {
  it.each<[object, string | undefined]>([
    [{}, '--tags must not be empty and must be a form of key=value'],
    [{ tags }, '--resources must not be empty'],
    [{ tags, resources: ['instance'] }, undefined],
    [{ tags, resources: ['instance', 'volume'] }, 'volume is not a supported resource. Current supported resources [instance]'],
    [{ tags, resources: ['instance'], rateLimit: -1 }, '--tagging-controller-rate-limit should not be less than zero'],
    [{ tags, resources: ['instance'], burstLimit: -1 }, '--tagging-controller-burst-limit should not be less than zero'],
    [{ tags, resources: ['instance'], workerCount: 0 }, '--tagging-controller-concurrent-node-syncs must be a positive number'],
  ])('%j', (values, problem) =>
    expect(taggingProblem(taggingOptionsOf(values as never))).toBe(
      problem && `Tagging controller inputs are not properly set: ${problem}`,
    ),
  );
});

describe('what is done about a Node', () => {
  const view = (more: Partial<TaggingView> = {}): TaggingView => ({
    action: 'ADD',
    providerId: providerID,
    node: node(),
    inUse: false,
    failures: 0,
    ...more,
  });
  const done = (more: Partial<TaggingView>): string[] =>
    reconcileTags(checksum, view(more)).effects.map((effect) => (effect.op === 'action' ? effect.name : effect.op));

  it('the checksum is upstream’s: MD5 of the sorted pairs', () => expect(checksum).toBe('1710bd1d5f464aab62d48f925c9e76db'));
  it.each<[string, Partial<TaggingView>, string[]]>([
    ['it is new', {}, ['tag']],
    ['it is tagged', { node: node({ labels: { [taggedLabel]: checksum } }) }, []],
    ['it has other tags', { node: node({ labels: { [taggedLabel]: 'old' } }) }, ['tag']],
    ['it is gone before its turn', { node: undefined }, []],
    ['it has no provider ID yet', { providerId: '' }, []],
    ['it is one of Fargate', { providerId: 'aws:///us-east-1a/fargate-ip-10-0-0-1.ec2.internal' }, []],
    ['it is of another cloud', { providerId: 'gce://p/z/i-0123' }, []],
    ['it went', { action: 'DELETE', node: undefined }, ['untag']],
    ['it went and came back', { action: 'DELETE', node: undefined, inUse: true }, []],
    ['it failed before', { failures: 1 }, ['failedBefore', 'tag']],
    ['it failed nine times', { failures: 9 }, ['failedBefore', 'tag']],
    ['it failed too often', { failures: 10 }, ['gaveUp']],
  ])('%s', (_, more, expected) => expect(done(more)).toEqual(expected));
});

function world(answer: (command: CreateTagsCommand | DeleteTagsCommand) => void = () => {}, now = 600_000) {
  const calls: string[] = [];
  const counted: string[] = [];
  const clock: Clock = { now: () => now, monotonic: () => 0, setTimer: () => ({ cancel() {} }), sleep: () => Promise.resolve() };
  const api = {
    ec2(command: CreateTagsCommand | DeleteTagsCommand) {
      calls.push(
        `${command.constructor.name} ${command.input.Resources?.join()} ${command.input.Tags?.map(({ Key }) => Key).join()}`,
      );
      answer(command);
      return Promise.resolve({});
    },
  } as unknown as Api;
  const metrics = {
    counter: ({ name }: { name: string }) => ({
      inc: (by = 1, ...values: string[]) => void counted.push(`${name} ${by} ${values.join()}`),
    }),
    histogram: ({ name }: { name: string }) => ({ observe: (value: number) => void counted.push(`${name} ${value}`) }),
  };
  const options = taggingOptionsOf({ tags, resources: ['instance'] });
  const controller = taggingController(options, { api, clock, logger, metrics });
  const act = (name: string, input: unknown): Promise<CloudPlan | undefined> =>
    controller.actions?.[name]?.(input, new AbortController().signal) ?? Promise.reject(new Error(name));
  return { calls, counted, controller, act };
}

describe('the tagging controller', () => {
  const work = { instanceId: 'i-0123', node: node() };
  it('tags the instance, then the Node says so', async () => {
    const { act, calls, counted } = world();
    const plan = await act('tag', work);
    expect(calls).toEqual(['CreateTagsCommand i-0123 team,env']);
    expect(plan?.effects).toMatchObject([
      { op: 'patch', ref: { name: 'n' }, body: { metadata: { uid: 'u', labels: { [taggedLabel]: checksum } } } },
      { op: 'action', name: 'observeFirst' },
    ]);
    await act('observeFirst', node());
    expect(counted).toEqual(['tagging_controller_inital_node_tagging_delay_seconds 600']);
  });
  it.each<[string, number, string | undefined]>([
    ['InvalidInstanceID.NotFound', 600_000, undefined],
    ['InvalidInstanceID.NotFound', 1_000, 'within eventual consistency grace period'],
    ['InvalidID', 1_000, undefined],
  ])('after %s at %d ms of age', async (code, now, failure) => {
    const plan = await world(() => {
      throw refused(code);
    }, now).act('tag', work);
    expect(plan?.effects).toEqual([]);
    if (failure === undefined) expect(plan?.failure).toBeUndefined();
    else expect(plan?.failure).toContain(failure);
  });
  it('fails with every other refusal, and untags what is not there', async () => {
    const failing = world(() => {
      throw refused('UnauthorizedOperation');
    });
    await expect(failing.act('tag', work)).rejects.toThrow('refused');
    await expect(failing.act('untag', work)).rejects.toThrow('refused');
    const gone = world(() => {
      throw refused('InvalidInstanceID.NotFound');
    });
    await expect(gone.act('untag', { instanceId: 'i-0123' })).resolves.toBeUndefined();
    expect(gone.calls).toEqual(['DeleteTagsCommand i-0123 team,env']);
  });
  it('counts failures by kind', async () => {
    const { act, counted } = world();
    await act('failedBefore', work);
    await act('gaveUp', work);
    expect(counted).toEqual([
      'cloudprovider_aws_tagging_controller_work_item_errors_total 1 total_errors,i-0123',
      'cloudprovider_aws_tagging_controller_work_item_errors_total 1 errors_after_retries_exhausted,i-0123',
    ]);
  });
  it('looks at Nodes without its label, and at those that go', () => {
    const { controller } = world();
    const [watch] = controller.watches;
    expect([...(watch?.keys({ object: node(), gone: false }) ?? [])]).toEqual([addKey('n')]);
    expect([...(watch?.keys({ object: node({ labels: { [taggedLabel]: checksum } }), gone: false }) ?? [])]).toEqual([]);
    expect([...(watch?.keys({ object: node(), gone: true }) ?? [])]).toEqual([deleteKey('n', providerID)]);
    expect(controller.rights).toEqual([{ apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'patch', 'watch'] }]);
  });
});

describe('calls', () => {
  it('for several instances become one, and one each when that fails', async () => {
    const calls: string[][] = [];
    const timers: (() => void)[] = [];
    const clock: Clock = {
      now: () => 0,
      monotonic: () => 0,
      setTimer(_, run) {
        timers.push(run);
        return { cancel() {} };
      },
      sleep: () => Promise.resolve(),
    };
    const api = {
      ec2(command: CreateTagsCommand) {
        calls.push(command.input.Resources ?? []);
        return calls.length === 1 ? Promise.reject(new Error('no')) : Promise.resolve({});
      },
    } as unknown as Api;
    const { tag } = tagCalls(api, clock, { tags, batchingEnabled: true });
    const both = Promise.all([tag('i-1'), tag('i-2')]);
    timers.at(-1)?.();
    await both;
    expect(calls).toEqual([['i-1', 'i-2'], ['i-1'], ['i-2']]);
  });
  it('wait for a token', async () => {
    const slept: number[] = [];
    let now = 0;
    const clock = { monotonic: () => now, sleep: (ms: number) => Promise.resolve(void slept.push(ms)) };
    const wait = tokenBucket({ rateLimit: 2, burstLimit: 2 }, clock);
    for (let call = 0; call < 4; call++) await wait();
    expect(slept).toEqual([500, 1000]);
    now = 10_000;
    await wait();
    expect(slept).toHaveLength(2);
  });
});
