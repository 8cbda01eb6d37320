// Load balancers for machines without root or real networks: TCP on free ports of 127.0.0.1, carried by this process to the places where the host
// program says instances are. The ports are reported as `loopbackPorts`.
import { connect } from 'node:net';
import type { Clock, Logger } from '#utils';
import {
  type Driver,
  type DriverContext,
  emptyWorld,
  type LoadBalancer,
  type Observation,
  type TargetHealth,
  type World,
} from '../../model/index.ts';
import { createHealthChecker, type HealthChecker, type Probed } from '../health/checker.ts';
import { createTold } from '../told.ts';
import { createLoopbackBalancer, type InstanceDial, type LoopbackBalancer } from './balancer.ts';

export interface LoopbackDeps {
  clock: Clock;
  logger: Logger;
  /** Default: the instance's private address. */
  dial?: InstanceDial;
}

export function createLoopbackLoadBalancers(context: Pick<DriverContext, 'observe'>, deps: LoopbackDeps): Driver {
  return new LoopbackDriver(context, deps);
}

class LoopbackDriver implements Driver {
  readonly name = 'loopback-load-balancers';
  readonly #deps: LoopbackDeps;
  readonly #dial: InstanceDial;
  readonly #checker: HealthChecker;
  readonly #balancers = new Map<string, LoopbackBalancer>();
  readonly #told: ReturnType<typeof createTold>;
  #world: World = emptyWorld;
  #work: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(context: Pick<DriverContext, 'observe'>, deps: LoopbackDeps) {
    this.#deps = deps;
    this.#told = createTold((observation: Observation) => context.observe(observation));
    this.#dial = deps.dial ?? ((instanceId, port) => this.#connect(instanceId, port));
    this.#checker = createHealthChecker(
      (instanceId, port) => this.#dial(instanceId, port),
      deps.clock,
      () =>
        void this.#enqueue().catch((error: unknown) =>
          deps.logger.warn('load balancers are not in line', { error: String(error) }),
        ),
    );
  }

  realise(world: World): Promise<void> {
    this.#world = world;
    return this.#enqueue();
  }
  async close(): Promise<void> {
    this.#closed = true;
    this.#checker.close();
    await this.#work;
    for (const balancer of this.#balancers.values()) balancer.close();
    this.#balancers.clear();
  }

  #enqueue(): Promise<void> {
    const result = this.#work.then(() => (this.#closed ? undefined : this.#apply()));
    this.#work = result.catch(() => {});
    return result;
  }
  #connect(instanceId: string, port: number): ReturnType<InstanceDial> {
    return new Promise((resolve, reject) => {
      const host = this.#world.instances.get(instanceId)?.privateAddress;
      const socket = connect({ host, port, allowHalfOpen: true });
      socket.once('error', reject);
      socket.once('connect', () => resolve(socket));
    });
  }
  #runs(instanceId: string): boolean {
    return this.#world.instances.get(instanceId)?.state === 'running';
  }
  #health({ healthCheck }: LoadBalancer, instanceId: string): TargetHealth {
    if (!this.#runs(instanceId)) return 'unused';
    return healthCheck ? this.#checker.health({ host: instanceId, check: healthCheck }) : 'healthy';
  }

  async #apply(): Promise<void> {
    const balancers = [...this.#world.loadBalancers.values()];
    this.#checker.want(
      balancers.flatMap(({ healthCheck, targets }): Probed[] =>
        healthCheck
          ? targets
              .filter(({ instanceId }) => this.#runs(instanceId))
              .map(({ instanceId, health }) => ({ host: instanceId, check: healthCheck, before: health }))
          : [],
      ),
    );
    for (const [id, balancer] of this.#balancers) {
      if (this.#world.loadBalancers.has(id)) continue;
      balancer.close();
      this.#balancers.delete(id);
    }
    for (const balancer of balancers) await this.#applyOne(balancer);
    this.#told.forget(this.#world);
  }

  async #applyOne(balancer: LoadBalancer): Promise<void> {
    const { id, targets } = balancer;
    const served = this.#balancers.get(id) ?? createLoopbackBalancer(this.#dial, this.#deps.clock);
    this.#balancers.set(id, served);
    const health = new Map(targets.map(({ instanceId }) => [instanceId, this.#health(balancer, instanceId)]));
    const healthy = [...health].flatMap(([instanceId, now]) => (now === 'healthy' ? [instanceId] : []));
    const { ports, reason } = await served.apply(balancer, healthy);
    this.#told.tell(balancer, { reason, health, loopbackPorts: ports });
  }
}
