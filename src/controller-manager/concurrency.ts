// `--concurrent-*-syncs`: how many keys of a loop are in work at once, with upstream's defaults.
import { type Flag, flag } from '#component-base';

const loops: readonly (readonly [flag: string, loop: string, usual: number])[] = [
  ['concurrent-cron-job-syncs', 'cronjob-controller', 5],
  ['concurrent-daemonset-syncs', 'daemonset-controller', 2],
  ['concurrent-deployment-syncs', 'deployment-controller', 5],
  ['concurrent-endpoint-syncs', 'endpoints-controller', 5],
  ['concurrent-ephemeralvolume-syncs', 'ephemeral-volume-controller', 5],
  ['concurrent-gc-syncs', 'garbage-collector-controller', 20],
  ['concurrent-horizontal-pod-autoscaler-syncs', 'horizontal-pod-autoscaler-controller', 5],
  ['concurrent-job-syncs', 'job-controller', 5],
  ['concurrent-namespace-syncs', 'namespace-controller', 10],
  ['concurrent-rc-syncs', 'replicationcontroller-controller', 5],
  ['concurrent-replicaset-syncs', 'replicaset-controller', 5],
  ['concurrent-resource-quota-syncs', 'resourcequota-controller', 5],
  ['concurrent-service-endpoint-syncs', 'endpointslice-controller', 5],
  ['concurrent-serviceaccount-token-syncs', 'serviceaccount-token-controller', 5],
  ['concurrent-statefulset-syncs', 'statefulset-controller', 5],
  ['concurrent-ttl-after-finished-syncs', 'ttl-after-finished-controller', 5],
  ['mirroring-concurrent-service-endpoint-syncs', 'endpointslice-mirroring-controller', 5],
];

export const concurrencyFlags = (): Readonly<Record<never, Flag<number>>> =>
  Object.fromEntries(
    loops.map(([name, loop, usual]) => [
      name,
      flag.int({ name, default: usual, help: `Keys of ${loop} in work at once.`, section: 'Concurrency' }),
    ]),
  );

/** By loop. Throws for a number that lets nothing run. */
export function concurrencyOf(flags: object): Readonly<Record<string, number>> {
  return Object.fromEntries(
    loops.map(([name, loop]) => {
      const count = (flags as Record<string, number>)[name] as number;
      if (count < 1) throw new Error(`${name} must be greater than 0, but got ${count}`);
      return [loop, count];
    }),
  );
}
