// The driver that makes load balancers real on one Linux machine: addresses and rules in the routers of VPCs, one HAProxy in each router that needs it,
// probes of targets. It acts on every new world, and by itself when a target's health changes or an HAProxy ends.
import { type Clock, deepEqual, type Exec, type Logger, type Timer } from '#utils';
import {
  type Driver,
  type DriverContext,
  edgeNetns,
  emptyWorld,
  routerNetns,
  type TargetHealth,
  type World,
} from '../model/index.ts';
import { removeHaproxies, removeLoadBalancers } from './leftovers.ts';
import { limits } from './limits.ts';
import { createEdge } from './machine/edge.ts';
import { clearRouter } from './machine/router.ts';
import { edgeRoutes } from './machine/routes.ts';
import { createTold } from './told.ts';
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
  readonly #told: ReturnType<typeof createTold>;
  /** VPCs without load balancers whose routers were cleared. */
  readonly #left = new Set<string>();
  /** Plans that the machine was brought in line with. The kernel is looked at only for another one. */
  readonly #applied = new Map<string, VpcPlan>();
  readonly #edge: ReturnType<typeof createEdge>;
  /** VPCs with a change of their own to be worked on. */
  readonly #changed = new Set<string>();
  #timer: Timer | undefined;
  #closed = false;
  #swept = false;

  constructor(context: DriverContext, deps: LoadBalancerDeps) {
    this.#context = context;
    this.#deps = deps;
    this.#edge = createEdge(deps.exec, edgeNetns(context.mark));
    this.#told = createTold((observation) => context.observe(observation));
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
      await Promise.all([...this.#vpcs.values()].map((vpc) => vpc.close()));
      this.#vpcs.clear();
      await removeLoadBalancers(this.#context.mark, { ...this.#deps, dir: this.#context.dir });
    });
  }

  #enqueue(work: () => Promise<void>): Promise<void> {
    const result = this.#work.then(work);
    this.#work = result.catch(() => {});
    return result;
  }

  async #apply(plans: readonly VpcPlan[]): Promise<void> {
    const failures: unknown[] = [];
    const edge = new Map<string, string>();
    let looked = false;
    await this.#sweep(plans);
    for (const plan of plans) {
      try {
        const look = !deepEqual(this.#applied.get(plan.vpcId), plan);
        looked ||= look;
        const applied = await this.#applyVpc(plan, look);
        for (const [address, words] of edgeRoutes(plan, applied.router)) edge.set(address, words);
      } catch (error) {
        failures.push(error);
      }
    }
    try {
      await this.#edge(edge, looked);
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
    this.#applied.delete(plan.vpcId);
    const applied = await vpc.apply(plan, {
      look,
      known: (balancerId, instanceId) =>
        this.#world.loadBalancers.get(balancerId)?.targets.find((target) => target.instanceId === instanceId)?.health,
    });
    for (const balancer of plan.balancers) this.#tell(balancer, vpc, applied.failed.get(balancer.id));
    this.#applied.set(plan.vpcId, plan);
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

  /** Once: an earlier process may have left an HAProxy of a VPC that has no load balancers any more. */
  async #sweep(plans: readonly VpcPlan[]): Promise<void> {
    if (this.#swept) return;
    const { mark, dir } = this.#context;
    await removeHaproxies(mark, { ...this.#deps, dir }, new Set(plans.map(({ netns }) => netns)));
    this.#swept = true;
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

  /** Works on a VPC because the driver wants to, and not because the world has changed. */
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

  #tell(balancer: BalancerPlan, vpc: VpcBalancers, reason: string | undefined): void {
    const now = this.#world.loadBalancers.get(balancer.id);
    if (!now) return;
    const health = new Map<string, TargetHealth>([
      ...balancer.targets.map((place) => [place.instanceId, vpc.health(balancer, place)] as const),
      ...balancer.unused.map((instanceId) => [instanceId, 'unused'] as const),
    ]);
    this.#told.tell(now, { reason, health });
  }

  #forget(): void {
    this.#told.forget(this.#world);
    for (const id of this.#applied.keys()) if (!this.#vpcs.has(id)) this.#applied.delete(id);
    for (const id of this.#left) if (!this.#world.vpcs.has(id)) this.#left.delete(id);
  }
}
