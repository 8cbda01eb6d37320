// The chores of a node, put together from the parts that do them.
import type { Clock, Logger } from '#utils';
import { EvictionManager } from '../eviction/manager.ts';
import { observe } from '../eviction/observe.ts';
import { ImageCollector } from '../images/collector.ts';
import type { NodeManager } from '../node/manager.ts';
import type { NodeState } from '../node/state.ts';
import type { KubeletOptions } from '../options.ts';
import type { PodRuntime } from '../container/runtime.ts';
import { nodeUsage } from '../stats/node-usage.ts';
import type { VolumeManager } from '../volumes/manager.ts';
import type { PodWorkers } from '../workers/pod-workers.ts';
import { Housekeeping } from './housekeeping.ts';

export interface HousekeepingParts {
  options: KubeletOptions;
  clock: Clock;
  logger: Logger;
  state: NodeState;
  runtime: PodRuntime;
  volumes: VolumeManager;
  workers: PodWorkers;
  nodes: NodeManager;
}

export function startHousekeeping(parts: HousekeepingParts): Housekeeping {
  const { options, clock, logger, state, runtime, volumes, workers, nodes } = parts;
  const warn = (reason: string, message: string): void => nodes.recordEvent('Warning', reason, message);
  const images = new ImageCollector({
    options,
    runtime,
    clock,
    logger,
    disk: async () => (await observe(options.rootDir))['imagefs.available'],
    warn,
  });
  const eviction = new EvictionManager({
    options: options.eviction,
    rootDir: options.rootDir,
    podLogsDir: options.podLogsDir,
    runtime,
    clock,
    state,
    volumePaths: (uid) => volumes.mounted(uid),
    pods: () => workers.running(),
    evict: (pod, message, graceSeconds, condition) => workers.evict(pod, { reason: 'Evicted', message }, graceSeconds, condition),
    warn,
    onPressure: () => void state.report(),
    // Pods go where images do not.
    async freeImages() {
      await images.free(Number.MAX_SAFE_INTEGER).catch((error: unknown) => {
        logger.warn('images could not be removed', { error: String(error) });
      });
    },
  });
  const housekeeping = new Housekeeping(
    {
      sample: async () => void (await Promise.all([runtime.usage(), nodeUsage(clock)])),
      evict: () => eviction.look(),
      rotateLogs: () => runtime.rotateLogs(options.containerLogMaxBytes, options.containerLogMaxFiles),
      refreshVolumes: () => volumes.refresh(),
      collectImages: () => images.collect(),
    },
    { clock, logger },
  );
  housekeeping.start();
  return housekeeping;
}
