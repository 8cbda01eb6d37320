import { describe, expect, it, onTestFinished } from 'vitest';
import type { Pod } from '#api/core/v1';
import type { NetworkPolicy } from '#api/networking/v1';
import { type GroupVersionResource, keyOf, type KubeObject } from '#apimachinery/meta';
import type { EventHandler, InformerFactory } from '#client';
import { systemClock } from '#host';
import { type ExecResult, silentLogger } from '#utils';
import { type NetworkPolicyAgent, runNetworkPolicy } from './agent.ts';
import { Kernel } from './test-support/machine.ts';

/** Objects that a test puts where informers of the agent see them. */
class Api {
  readonly asked: string[] = [];
  readonly #objects = new Map<string, Map<string, KubeObject>>();
  readonly #handlers = new Map<string, Set<EventHandler<KubeObject>>>();

  readonly informers = {
    informer: ({ resource }: GroupVersionResource) => {
      if (!this.asked.includes(resource)) this.asked.push(resource);
      return {
        hasSynced: () => true,
        whenSynced: async () => {},
        addHandler: (handler: EventHandler<KubeObject>) => {
          this.#of(this.#handlers, resource, () => new Set()).add(handler);
          for (const object of this.#of(this.#objects, resource, () => new Map()).values()) handler.onAdd?.(object, true);
        },
      };
    },
  } as unknown as InformerFactory;

  put(resource: string, object: KubeObject): void {
    const all = this.#of(this.#objects, resource, () => new Map<string, KubeObject>());
    const old = all.get(keyOf(object.metadata));
    all.set(keyOf(object.metadata), object);
    for (const handler of this.#handlers.get(resource) ?? [])
      if (old) handler.onUpdate?.(object, old);
      else handler.onAdd?.(object, false);
  }
  remove(resource: string, object: KubeObject): void {
    this.#objects.get(resource)?.delete(keyOf(object.metadata));
    for (const handler of this.#handlers.get(resource) ?? []) handler.onDelete?.(object);
  }
  #of<T>(map: Map<string, T>, key: string, make: () => T): T {
    const found = map.get(key) ?? make();
    map.set(key, found);
    return found;
  }
}

interface Setup {
  api: Api;
  kernel: Kernel;
  agent: NetworkPolicyAgent;
  events: string[];
  /** What nft answers; throws where it cannot be started. */
  nft: { fail?: () => ExecResult };
}

function start(prepare: (api: Api) => void = () => {}): Setup {
  const api = new Api();
  prepare(api);
  const kernel = new Kernel();
  const events: string[] = [];
  const nft: Setup['nft'] = {};
  const agent = runNetworkPolicy('node-1', {
    informers: api.informers,
    clock: systemClock(),
    logger: silentLogger,
    recorder: {
      event: (_object: KubeObject, _type: string, reason: string, message: string) => void events.push(`${reason}: ${message}`),
    } as never,
    seeBridgedPackets: async () => {},
    exec: async (_command, _args, options) => {
      const failed = nft.fail?.();
      if (!failed) kernel.apply(String(options?.input));
      return failed ?? { code: 0, stdout: '', stderr: '' };
    },
  });
  onTestFinished(() => agent.stop());
  return { api, kernel, agent, events, nft };
}

const pod = (name: string, ip?: string): Pod => ({
  metadata: { name, namespace: 'x', uid: `uid-${name}`, labels: { app: name } },
  spec: { nodeName: 'node-1', containers: [] },
  status: { phase: 'Running', ...(ip && { podIP: ip }) },
});
const deny: NetworkPolicy = { metadata: { name: 'deny', namespace: 'x' }, spec: { podSelector: { matchLabels: { app: 'a' } } } };
const addresses = (kernel: Kernel): string => kernel.state().find((line) => line.includes(' ingress-pods:')) ?? '';
const missing = (): ExecResult => {
  throw Object.assign(new Error('spawn nft ENOENT'), { code: 'ENOENT' });
};

describe('a node', () => {
  it('watches pods once there is a policy, and has no table without one that selects its pods', async () => {
    const { api, kernel, agent } = start();
    await agent.synced;
    expect(api.asked).toEqual(['networkpolicies']);
    expect(kernel.state()).toEqual([]);
    api.put('pods', pod('a', '10.244.1.2'));
    api.put('networkpolicies', deny);
    await expect.poll(() => addresses(kernel)).toContain('10.244.1.2');
    api.remove('networkpolicies', deny);
    await expect.poll(() => kernel.state()).toEqual([]);
  });

  it('admits a pod once the rules about its address are in force, before the API knows the address', async () => {
    const { api, kernel, agent } = start((before) => before.put('networkpolicies', deny));
    api.put('pods', pod('a'));
    await agent.admit(pod('a'), ['10.244.1.9']);
    expect(addresses(kernel)).toContain('10.244.1.9');
    // What the API says of an earlier life of the pod changes nothing.
    api.put('pods', pod('a', '10.244.1.3'));
    api.put('pods', pod('b', '10.244.1.4'));
    await agent.admit(pod('a'), ['10.244.1.9']);
    expect(addresses(kernel)).toContain('10.244.1.9');
    expect(addresses(kernel)).not.toContain('10.244.1.3');
  });

  it('admits pods that no policy selects where there is no nft, and no others', async () => {
    const { nft, agent, events, api } = start((before) => before.put('networkpolicies', deny));
    nft.fail = missing;
    api.put('pods', pod('a'));
    await agent.admit(pod('b'), ['10.244.1.5']);
    const admitted = agent.admit(pod('a'), ['10.244.1.6']).then(
      () => 'admitted',
      (error: Error) => error.message,
    );
    await expect.poll(() => events).toEqual(['FailedSyncNetworkPolicies: nft is not installed']);
    await agent.stop();
    expect(await admitted).toBe('network policies are no longer followed');
  });

  it('writes everything anew after a transaction that failed', async () => {
    const { api, kernel, agent, nft, events } = start((before) => before.put('networkpolicies', deny));
    await agent.synced;
    nft.fail = () => ({ code: 1, stdout: '', stderr: 'Error: it is busy\n' });
    api.put('pods', pod('a', '10.244.1.2'));
    await expect.poll(() => events).toEqual(['FailedSyncNetworkPolicies: nft failed: Error: it is busy']);
    expect(kernel.state()).toEqual([]);
    delete nft.fail;
    await expect.poll(() => addresses(kernel), { timeout: 5_000 }).toContain('10.244.1.2');
  });

  it('forgets the address of a pod that is gone', async () => {
    const { api, kernel, agent } = start((before) => before.put('networkpolicies', deny));
    api.put('pods', pod('a'));
    await agent.admit(pod('a'), ['10.244.1.9']);
    api.remove('pods', pod('a'));
    await expect.poll(() => kernel.state()).toEqual([]);
  });
});
