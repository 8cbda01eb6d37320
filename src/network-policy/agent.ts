// The shell: watches policies, and pods and namespaces once there is a policy, and brings the rules of this node into the kernel whenever they change.
// Rules outlive this process: until the next one knows better, what they say holds.
import type { Namespace, Pod } from '#api/core/v1';
import type { NetworkPolicy } from '#api/networking/v1';
import { type KubeObject, keyOf } from '#apimachinery/meta';
import type { EventRecorder, Informer, InformerFactory } from '#client';
import { createTurns, nextTurn } from '#host';
import type { Clock, Exec, Logger, Timer } from '#utils';
import { Compiler } from './compiler.ts';
import { type PodFacts, podFacts, policyFacts } from './facts.ts';
import { admitTimeoutMs, coalesceMs, fullSyncMs, retryMaxMs, retryMinMs } from './limits.ts';
import { apply, isMissing, seeBridgedPackets } from './nft.ts';
import { isEmpty, type Ruleset } from './ruleset.ts';
import { transaction } from './text.ts';

export interface NetworkPolicyDeps {
  /** Started and stopped by the caller. */
  informers: InformerFactory;
  exec: Exec;
  clock: Clock;
  logger: Logger;
  recorder: EventRecorder;
  /** Makes sure that rules see packets between pods of one node; default: asks the kernel. */
  seeBridgedPackets?: () => Promise<void>;
}

export interface NetworkPolicyAgent {
  /** Resolves once the rules of everything known at the start are in the kernel. */
  readonly synced: Promise<void>;
  /**
   * A pod of this node has these addresses now and is about to start. Resolves when the policies that select it are in force; rejects with a sentence
   * when that takes too long.
   */
  admit(pod: Pod, ips: readonly string[]): Promise<void>;
  /** Stops following changes. The rules stay. */
  stop(): Promise<void>;
}

interface Waiting {
  /** The number of the change that it waits for. */
  change: number;
  done(error?: Error): void;
}

class Agent implements NetworkPolicyAgent {
  readonly synced: Promise<void>;
  readonly #deps: NetworkPolicyDeps;
  readonly #nodeName: string;
  readonly #compiler: Compiler;
  /** Addresses that the kubelet told, by pod: the API learns of them later. */
  readonly #claims = new Map<string, { uid: string; ip: string }>();
  readonly #waiting = new Set<Waiting>();
  #informers: Pick<Informer<KubeObject>, 'hasSynced' | 'whenSynced'>[] = [];
  /** Undefined: what is in the kernel is not known. */
  #applied: Ruleset | undefined;
  #change = 0;
  #lastFullSyncMs = Number.NEGATIVE_INFINITY;
  #retryMs = retryMinMs;
  #failure: string | undefined;
  #timer: Timer | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;
  #markSynced: () => void = () => {};

  constructor(nodeName: string, deps: NetworkPolicyDeps) {
    this.#deps = deps;
    this.#nodeName = nodeName;
    this.#compiler = new Compiler(nodeName);
    this.synced = new Promise((resolve) => {
      this.#markSynced = resolve;
    });
    this.#watchPolicies();
  }

  async admit(pod: Pod, ips: readonly string[]): Promise<void> {
    const facts = podFacts({ ...pod, status: { podIPs: ips.map((ip) => ({ ip })) } });
    if (!facts?.ip || facts.hostNetwork) return;
    this.#claims.set(facts.key, { uid: facts.uid, ip: facts.ip });
    await this.#deadline((done) => {
      const waiting: Waiting = { change: 0, done };
      // Selected or not is known only when the policies are.
      void this.#informers[0]?.whenSynced().then(() => {
        const known = this.#compiler.pod(facts.key);
        const now = known?.uid === facts.uid ? { ...known, ip: facts.ip as string } : facts;
        this.#compiler.setPod(facts.key, now);
        this.#touch();
        if (!this.#compiler.isSelected(now)) return done();
        waiting.change = this.#change;
        this.#waiting.add(waiting);
      });
      return () => this.#waiting.delete(waiting);
    });
  }
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    for (const { done } of this.#waiting) done(new Error('network policies are no longer followed'));
    await this.#running;
  }

  /** `begin` is given the end of the wait, and gives what forgets it. */
  #deadline(begin: (done: (error?: Error) => void) => () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = this.#deps.clock.setTimer(admitTimeoutMs, () =>
        done(new Error(`network policies of the pod are not in force${this.#failure ? `: ${this.#failure}` : ''}`)),
      );
      const done = (error?: Error): void => {
        timer.cancel();
        forget();
        if (error) reject(error);
        else resolve();
      };
      const forget = begin(done);
    });
  }
  #watchPolicies(): void {
    const policies = this.#informer<NetworkPolicy>({ group: 'networking.k8s.io', version: 'v1', resource: 'networkpolicies' });
    const set = (policy: NetworkPolicy, here: boolean): void => {
      this.#watchPods();
      this.#compiler.setPolicy(keyOf(policy.metadata), policy.metadata.namespace ?? '', here ? policyFacts(policy) : undefined);
      this.#touch();
    };
    // A change of its status or of managed fields does not change what it means.
    const isSame = (now: NetworkPolicy, old: NetworkPolicy): boolean =>
      now.metadata.generation !== undefined &&
      now.metadata.generation === old.metadata.generation &&
      now.metadata.uid === old.metadata.uid;
    policies.addHandler({
      onAdd: (policy) => set(policy, true),
      onUpdate: (policy, old) => (isSame(policy, old) ? undefined : set(policy, true)),
      onDelete: (policy) => set(policy, false),
    });
    void policies.whenSynced().then(() => this.#touch());
  }
  /** Most clusters have no policy: what only policies ask for is not watched before there is one. */
  #watchPods(): void {
    if (this.#informers.length > 1) return;
    const pods = this.#informer<Pod>({ group: '', version: 'v1', resource: 'pods' });
    const namespaces = this.#informer<Namespace>({ group: '', version: 'v1', resource: 'namespaces' });
    const set = (pod: Pod): void => {
      const facts = podFacts(pod);
      this.#compiler.setPod(keyOf(pod.metadata), facts && this.#withClaim(facts));
      if (!facts) this.#forget(pod);
      this.#touch();
    };
    pods.addHandler({
      onAdd: set,
      onUpdate: set,
      onDelete: (pod) => {
        this.#forget(pod);
        this.#compiler.setPod(keyOf(pod.metadata), undefined);
        this.#touch();
      },
    });
    const setNamespace = ({ metadata }: Namespace): void => {
      this.#compiler.setNamespace(metadata.name ?? '', metadata.labels ?? {});
      this.#touch();
    };
    namespaces.addHandler({
      onAdd: setNamespace,
      onUpdate: setNamespace,
      onDelete: ({ metadata }) => {
        this.#compiler.setNamespace(metadata.name ?? '', undefined);
        this.#touch();
      },
    });
    void Promise.all([pods.whenSynced(), namespaces.whenSynced()]).then(() => this.#touch());
  }
  #informer<T extends { metadata: object }>(resource: Parameters<InformerFactory['informer']>[0]): Informer<T & Pod> {
    const informer = this.#deps.informers.informer<T & Pod>(resource);
    this.#informers.push(informer);
    return informer;
  }
  #withClaim(facts: PodFacts): PodFacts {
    const claim = this.#claims.get(facts.key);
    return claim?.uid === facts.uid ? { ...facts, ip: claim.ip } : facts;
  }
  #forget({ metadata }: Pod): void {
    const key = keyOf(metadata);
    if (this.#claims.get(key)?.uid === metadata.uid) this.#claims.delete(key);
  }

  #touch(): void {
    this.#change++;
    this.#schedule(coalesceMs);
  }
  /** One transaction at a time; a burst of changes becomes one. */
  #schedule(delayMs: number): void {
    if (this.#stopped || this.#running || !this.#informers.every((informer) => informer.hasSynced())) return;
    if (this.#timer && delayMs > coalesceMs) return;
    this.#timer?.cancel();
    this.#timer = this.#deps.clock.setTimer(delayMs, () => {
      this.#timer = undefined;
      const change = this.#change;
      this.#running = this.#sync().finally(() => {
        this.#running = undefined;
        if (this.#failure !== undefined) this.#schedule(this.#retryMs);
        else this.#schedule(this.#change === change ? fullSyncMs : coalesceMs);
      });
    });
  }
  async #sync(): Promise<void> {
    const { clock } = this.#deps;
    if (clock.monotonic() - this.#lastFullSyncMs >= fullSyncMs) this.#applied = undefined;
    const change = this.#change;
    try {
      const turns = createTurns(clock);
      for (const _ of this.#compiler.settle()) if (turns.spent()) await nextTurn();
      const ruleset = this.#compiler.ruleset();
      const text = transaction(this.#applied, ruleset);
      if (text !== '') await this.#apply(ruleset, text);
      if (!this.#applied) this.#lastFullSyncMs = clock.monotonic();
      this.#applied = ruleset;
      [this.#failure, this.#retryMs] = [undefined, retryMinMs];
      for (const waiting of this.#waiting) if (waiting.change <= change) waiting.done();
      this.#markSynced();
    } catch (error) {
      this.#fail(error);
    }
  }
  async #apply(ruleset: Ruleset, text: string): Promise<void> {
    const { exec, logger } = this.#deps;
    if (!isEmpty(ruleset)) await (this.#deps.seeBridgedPackets ?? seeBridgedPackets)();
    try {
      await apply(exec, text);
    } catch (error) {
      // Where nobody can have made rules, there is nothing to take away.
      if (!isEmpty(ruleset) || !isMissing(error)) throw error;
      logger.warn('nft is not installed: pods that network policies select will not start');
    }
  }
  /** What is in the kernel stays in force; the next try writes everything. */
  #fail(error: unknown): void {
    const { logger, recorder } = this.#deps;
    const message = isMissing(error) ? 'nft is not installed' : (error as Error).message;
    logger.error('failed to sync network policies', { error: message });
    if (this.#failure === undefined) {
      const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: this.#nodeName } };
      recorder.event(node, 'Warning', 'FailedSyncNetworkPolicies', message, { action: 'SyncNetworkPolicies' });
    } else this.#retryMs = Math.min(this.#retryMs * 2, retryMaxMs);
    [this.#applied, this.#failure] = [undefined, message];
  }
}

/** Enforces network policies on this node. The informers are started by the caller, after this. */
export const runNetworkPolicy = (nodeName: string, deps: NetworkPolicyDeps): NetworkPolicyAgent => new Agent(nodeName, deps);
