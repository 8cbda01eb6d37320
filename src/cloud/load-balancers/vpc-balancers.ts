// All load balancers of one VPC: packet rules, HAProxy and health of its router.
import { join } from 'node:path';
import type { Clock, Exec, Logger } from '#utils';
import type { TargetHealth } from '../model/index.ts';
import { createHaproxy } from './haproxy/haproxy.ts';
import { proxiesOf } from './haproxy/config.ts';
import { createHealthChecker, type Probed } from './health/checker.ts';
import { createNetnsDial } from './health/dial.ts';
import { createHeard } from './health/heard.ts';
import { createRouter } from './machine/router.ts';
import type { RouterState } from './machine/routes.ts';
import { type BalancerPlan, type Place, tcpListeners, type VpcPlan } from './plan.ts';

export interface VpcBalancersOptions {
  netns: string;
  /** The driver's directory, as an absolute path. */
  dir: string;
  exec: Exec;
  clock: Clock;
  logger: Logger;
  /** Something happened that makes `apply` worth calling: a target's health changed, HAProxy ended. */
  onChange(): void;
}

export interface Applied {
  router: RouterState;
  /** Why load balancers fail, by id; all others work. */
  failed: ReadonlyMap<string, string>;
}

export interface VpcBalancers {
  /** `known`: health from before, of targets that were not probed yet. */
  apply(
    plan: VpcPlan,
    options: { look: boolean; known(balancerId: string, instanceId: string): TargetHealth | undefined },
  ): Promise<Applied>;
  health(balancer: BalancerPlan, place: Place): TargetHealth;
  /** Ends its programs. What is in the kernel is the caller's to clear. */
  close(): Promise<void>;
}

/** What to do about an HAProxy that cannot run, for who reads the state of a load balancer. */
function remedy(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  if (text.includes('spawn haproxy ENOENT'))
    return 'HAProxy is not installed on this machine: install it (apt-get install haproxy) and it starts by itself';
  return text;
}

export function createVpcBalancers({ netns, dir, exec, clock, logger, onChange }: VpcBalancersOptions): VpcBalancers {
  const folder = join(dir, netns);
  const { dial, close: closeDial } = createNetnsDial(netns, dir);
  const checker = createHealthChecker(dial, clock, onChange, createHeard(exec, netns));
  const router = createRouter(exec, netns);
  const haproxy = createHaproxy({ netns, dir: folder, exec, clock, logger, onEnded: onChange });

  const health = ({ healthCheck }: BalancerPlan, { address }: Place): TargetHealth =>
    healthCheck ? checker.health({ host: address, check: healthCheck }) : 'healthy';

  return {
    health,
    async apply(plan, { look, known }) {
      checker.want(
        plan.balancers.flatMap(({ id, healthCheck, targets }): Probed[] =>
          healthCheck
            ? targets.map(({ address, instanceId }) => ({ host: address, check: healthCheck, before: known(id, instanceId) }))
            : [],
        ),
      );
      const healthy = (balancer: BalancerPlan): readonly Place[] => {
        const good = balancer.targets.filter((place) => health(balancer, place) === 'healthy');
        return good.length === 0 && balancer.healthCheck?.failOpen ? balancer.targets : good;
      };
      const state = await router.apply(plan, healthy, look);
      try {
        return { router: state, failed: await haproxy.apply(proxiesOf(plan.balancers, healthy)) };
      } catch (error) {
        const reason = remedy(error);
        logger.warn('HAProxy does not run', { netns, reason });
        const failed = plan.balancers
          .filter((balancer) => tcpListeners(balancer).length > 0)
          .map(({ id }) => [id, reason] as const);
        return { router: state, failed: new Map(failed) };
      }
    },
    async close() {
      checker.close();
      closeDial();
      await haproxy.stop();
    },
  };
}
