// The driver that makes load balancers real on one Linux machine: addresses and rules in the routers of VPCs, one HAProxy in each router that needs it,
// probes of targets. It acts on every new world, and by itself when a target's health changes or an HAProxy ends.
import { rm } from 'node:fs/promises';
import type { Clock, Exec, Logger, Timer } from '#utils';
import {
  type Driver,
  type DriverContext,
  edgeNetns,
  emptyWorld,
  type Observation,
  routerNetns,
  type World,
} from '../model/index.ts';
import { limits } from './limits.ts';
import { applyEdge } from './machine/edge.ts';
import { clearRouter } from './machine/router.ts';
import { edgeRoutes } from './machine/routes.ts';
import { type BalancerPlan, plansOf, type VpcPlan } from './plan.ts';
import { type Applied, createVpcBalancers, type VpcBalancers } from './vpc-balancers.ts';

export interface LoadBalancerDeps {
  exec: Exec;
  clock: Clock;
  logger: Logger;
}

/** Needs root, and the namespaces that the driver of networks makes. */
export function createLoadBalancerDriver(context: DriverContext, deps: LoadBalancerDeps): Driver {
  return new LoadBalancerDriver(context, deps);
}

class LoadBalancerDriver implements Driver {
  readonly name = 'load-balancers';
  readonly #context: DriverContext;
  readonly #deps: LoadBalancerDeps;
  readonly #vpcs = new Map<string, VpcBalancers>();
  #world: World = emptyWorld;
  /** One piece of work at a time. */
  #work: Promise<unknown> = Promise.resolve();
  /** Told last, and of which value in the world, so that nothing is told twice while the world lags behind. */
  readonly #told = new Map<string, { text: string; about: unknown }>();
  /** VPCs without load balancers whose routers were cleared. */
  readonly #left = new Set<string>();
  /** VPCs with a change of their own to be worked on. */
  readonly #changed = new Set<string>();
  #timer: Timer | undefined;
  #closed = false;

  constructor(context: DriverContext, deps: LoadBalancerDeps) {
    this.#context = context;
    this.#deps = deps;
  }

  realise(world: World): Promise<void> {
    this.#world = world;
    return this.#enqueue(async () => {
      if (!this.#closed) await this.#apply(plansOf(this.#world, this.#context.mark));
    });
  }

  close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    return this.#enqueue(async () => {
      const { exec } = this.#deps;
      const vpcs = [...this.#vpcs];
      await Promise.all(vpcs.map(([, vpc]) => vpc.close()));
      this.#vpcs.clear();
      const netnses = new Set(
        [...this.#world.vpcs.keys(), ...vpcs.map(([id]) => id)].map((id) => routerNetns(this.#context.mark, id)),
      );
      for (const netns of netnses) await clearRouter(exec, netns);
      await applyEdge(exec, edgeNetns(this.#context.mark), new Map());
      await rm(this.#context.dir, { recursive: true, force: true });
    });
  }

  #enqueue(work: () => Promise<void>): Promise<void> {
    const result = this.#work.then(work);
    this.#work = result.catch(() => {});
    return result;
  }

  async #apply(plans: readonly VpcPlan[]): Promise<void> {
    const { exec } = this.#deps;
    const failures: unknown[] = [];
    const edge = new Map<string, string>();
    for (const plan of plans) {
      try {
        const applied = await this.#applyVpc(plan, true);
        for (const [address, words] of edgeRoutes(plan, applied.router)) edge.set(address, words);
      } catch (error) {
        failures.push(error);
      }
    }
    try {
      await applyEdge(exec, edgeNetns(this.#context.mark), edge);
      await this.#leave(new Set(plans.map(({ vpcId }) => vpcId)));
    } catch (error) {
      failures.push(error);
    }
    this.#forget();
    if (failures.length === 1) throw failures[0];
    if (failures.length > 1) throw new AggregateError(failures, failures.map(String).join('; '));
  }

  async #applyVpc(plan: VpcPlan, look: boolean): Promise<Applied> {
    const vpc = this.#vpc(plan);
    const applied = await vpc.apply(plan, {
      look,
      known: (balancerId, instanceId) =>
        this.#world.loadBalancers.get(balancerId)?.targets.find((target) => target.instanceId === instanceId)?.health,
    });
    for (const balancer of plan.balancers) this.#tell(balancer, vpc, applied.failed.get(balancer.id));
    if (applied.failed.size > 0) this.#later(plan.vpcId, limits.refusedRetryMs);
    return applied;
  }

  #vpc({ vpcId, netns }: VpcPlan): VpcBalancers {
    const { exec, clock, logger } = this.#deps;
    const known = this.#vpcs.get(vpcId);
    if (known) return known;
    const made = createVpcBalancers({
      netns,
      dir: this.#context.dir,
      exec,
      clock,
      logger: logger.with({ vpc: vpcId }),
      onChange: () => this.#later(vpcId, 0),
    });
    this.#vpcs.set(vpcId, made);
    this.#left.delete(vpcId);
    return made;
  }

  /** VPCs whose last load balancer went. */
  async #leave(kept: ReadonlySet<string>): Promise<void> {
    const ids = new Set([...this.#vpcs.keys(), ...this.#world.vpcs.keys()]);
    for (const id of ids) {
      const vpc = this.#vpcs.get(id);
      if (kept.has(id) || (!vpc && this.#left.has(id))) continue;
      await vpc?.close();
      this.#vpcs.delete(id);
      await clearRouter(this.#deps.exec, routerNetns(this.#context.mark, id));
      this.#left.add(id);
    }
  }

  /** Works on a VPC of the driver's own account, as nothing in the world changed. */
  #later(vpcId: string, delayMs: number): void {
    this.#changed.add(vpcId);
    if (this.#closed) return;
    if (delayMs > 0 && this.#timer) return;
    this.#timer?.cancel();
    this.#timer = this.#deps.clock.setTimer(delayMs, () => {
      this.#timer = undefined;
      void this.#enqueue(() => this.#applyChanged());
    });
  }

  async #applyChanged(): Promise<void> {
    const changed = new Set(this.#changed);
    this.#changed.clear();
    if (this.#closed) return;
    for (const plan of plansOf(this.#world, this.#context.mark)) {
      if (!changed.has(plan.vpcId)) continue;
      try {
        await this.#applyVpc(plan, false);
      } catch (error) {
        this.#deps.logger.warn('load balancers are not in line', { vpc: plan.vpcId, error: String(error) });
        this.#later(plan.vpcId, limits.retryMs);
      }
    }
  }

  #tell({ id, targets, unused, ...balancer }: BalancerPlan, vpc: VpcBalancers, reason: string | undefined): void {
    const now = this.#world.loadBalancers.get(id);
    if (!now) return;
    const state = reason === undefined ? 'active' : 'failed';
    this.#observe(
      `state ${id}`,
      now.state === state && now.stateReason === reason,
      {
        kind: 'load-balancer-state',
        loadBalancerId: id,
        state,
        ...(reason !== undefined && { reason }),
      },
      now,
    );
    const seen = [
      ...targets.map((place) => [place.instanceId, vpc.health({ id, targets, unused, ...balancer }, place)] as const),
      ...unused.map((instanceId) => [instanceId, 'unused'] as const),
    ];
    for (const [instanceId, health] of seen) {
      const target = now.targets.find((one) => one.instanceId === instanceId);
      const observation: Observation = { kind: 'target-health', loadBalancerId: id, instanceId, health };
      this.#observe(`health ${id} ${instanceId}`, target?.health === health, observation, target);
    }
  }

  /** Tells what the world does not know, unless it was just told of the same value (`about`). */
  #observe(key: string, known: boolean, observation: Observation, about: unknown): void {
    const before = this.#told.get(key);
    if (known) {
      this.#told.delete(key);
      return;
    }
    const text = JSON.stringify(observation);
    if (before?.text === text && before.about === about) return;
    this.#told.set(key, { text, about });
    this.#context.observe(observation);
  }

  #forget(): void {
    for (const key of this.#told.keys()) if (!this.#world.loadBalancers.has(key.split(' ')[1] ?? '')) this.#told.delete(key);
    for (const id of this.#left) if (!this.#world.vpcs.has(id)) this.#left.delete(id);
  }
}
