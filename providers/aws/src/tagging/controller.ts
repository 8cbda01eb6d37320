// The tagging controller, `tagging` in `--controllers` and off by default: instances of Nodes carry the tags of `--tags`, and lose them with the Node.
import {
  type Clock,
  type CloudControllerDefinition,
  type CloudPlan,
  defineCloudController,
  type Logger,
  type Node,
  type ProviderMetrics,
} from 'sagong/cloud-provider';
import type { Api } from '../clients.ts';
import { hasCode } from '../errors.ts';
import { taggingGraceMs } from '../limits.ts';
import { tagCalls } from './calls.ts';
import { taggingMetrics } from './metrics.ts';
import { type TaggingOptions, taggingProblem } from './options.ts';
import { tokenBucket } from './pace.ts';
import {
  addKey,
  checksumOf,
  deleteKey,
  isTagged,
  reconcileTags,
  taggedPlan,
  type TaggingView,
  type TaggingWork,
} from './reconcile.ts';

export interface TaggingDeps {
  api: Pick<Api, 'ec2'>;
  clock: Clock;
  logger: Logger;
  metrics?: ProviderMetrics | undefined;
}

const nodes = { group: '', version: 'v1', resource: 'nodes' };
const nameOf = (node: Node | undefined): string => node?.metadata.name ?? '';

const createdMs = ({ metadata }: Node): number => Date.parse(metadata.creationTimestamp ?? '');

function actionsOf(options: TaggingOptions, { api, clock, logger, metrics }: TaggingDeps): CloudControllerDefinition['actions'] {
  const calls = tagCalls(api, clock, options);
  const wait = tokenBucket(options, clock);
  const counts = taggingMetrics(metrics);
  const checksum = checksumOf(options.tags);

  /** AWS does not know the instance: for a new Node that may pass, else nothing is left to be done. */
  function unknownInstance({ node, instanceId }: TaggingWork): CloudPlan {
    if (node && clock.now() - createdMs(node) < taggingGraceMs)
      return {
        effects: [],
        failure: `EC2 instance ${instanceId} for node ${nameOf(node)} does not exist, but node is within eventual consistency grace period`,
      };
    logger.info('skip tagging since the EC2 instance does not exist', { instance: instanceId, node: nameOf(node) });
    return { effects: [] };
  }
  const invalid = ({ node, instanceId }: TaggingWork): CloudPlan => {
    logger.info('skip the EC2 instance since its ID is invalid', { instance: instanceId, node: nameOf(node) });
    return { effects: [] };
  };
  return {
    async tag(input, signal) {
      const work = input as TaggingWork;
      await wait(signal);
      try {
        await calls.tag(work.instanceId);
      } catch (error) {
        if (hasCode(error, 'InvalidInstanceID.NotFound')) return unknownInstance(work);
        if (hasCode(error, 'InvalidID')) return invalid(work);
        throw error;
      }
      return work.node && taggedPlan(work.node, checksum);
    },
    async untag(input, signal) {
      const work = input as TaggingWork;
      await wait(signal);
      try {
        await calls.untag(work.instanceId);
      } catch (error) {
        if (hasCode(error, 'InvalidID')) return invalid(work);
        // No instance: what is wanted is so.
        if (!hasCode(error, 'InvalidInstanceID.NotFound')) throw error;
      }
      return undefined;
    },
    observeFirst(node) {
      counts.firstTagged(clock.now() - createdMs(node as Node));
      return Promise.resolve(undefined);
    },
    failedBefore(input) {
      counts.failed('total_errors', (input as TaggingWork).instanceId);
      return Promise.resolve(undefined);
    },
    gaveUp(input) {
      const { instanceId, node } = input as TaggingWork;
      counts.failed('errors_after_retries_exhausted', instanceId);
      logger.error('error processing work item: requeuing count exceeded', { instance: instanceId, node: nameOf(node) });
      return Promise.resolve(undefined);
    },
  };
}

export function taggingController(options: TaggingOptions, deps: TaggingDeps): CloudControllerDefinition {
  const checksum = checksumOf(options.tags);
  const problem = taggingProblem(options);
  return defineCloudController<TaggingView>({
    name: 'tagging',
    serviceAccount: 'tagging-controller',
    disabledByDefault: true,
    ...(problem !== undefined && { problem }),
    rights: [{ apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'patch', 'watch'] }],
    watches: [
      {
        resource: nodes,
        keys({ object, gone }) {
          const node = object as Node;
          const { name = '' } = node.metadata;
          if (gone) return [deleteKey(name, node.spec?.providerID ?? '')];
          return isTagged(node, checksum) ? [] : [addKey(name)];
        },
      },
    ],
    view(key, cache, { lastFailure, memory }) {
      const [action = '', name = '', providerId = ''] = key.split(' ');
      const failures = lastFailure ? (typeof memory === 'number' ? memory : 0) + 1 : 0;
      if (action === 'DELETE') {
        const inUse = cache.list<Node>(nodes).some(({ spec }) => spec?.providerID === providerId);
        return { action, providerId, node: undefined, inUse, failures };
      }
      const node = cache.get<Node>(nodes, '', name);
      return { action: 'ADD', providerId: node?.spec?.providerID ?? '', node, inUse: false, failures };
    },
    reconcile: (view) => reconcileTags(checksum, view),
    actions: actionsOf(options, deps) ?? {},
    concurrency: options.workerCount,
  });
}
