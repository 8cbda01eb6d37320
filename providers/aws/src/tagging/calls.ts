// CreateTags and DeleteTags for single instances, together with those of others when batching is on (cloud-provider-aws create_tags_batch.go).
import { CreateTagsCommand, DeleteTagsCommand } from '@aws-sdk/client-ec2';
import type { Clock } from 'sagong/cloud-provider';
import type { Api } from '../clients.ts';
import { createBatcher } from '../instances/batcher.ts';
import { taggedInstancesMax } from '../limits.ts';
import type { TaggingOptions } from './options.ts';

export interface TagCalls {
  tag(instanceId: string): Promise<void>;
  untag(instanceId: string): Promise<void>;
}

export function tagCalls(
  api: Pick<Api, 'ec2'>,
  clock: Clock,
  { tags, batchingEnabled }: Pick<TaggingOptions, 'tags' | 'batchingEnabled'>,
): TagCalls {
  const Tags = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
  /** `call` for one instance. A batch that fails, for whatever reason, is tried again one by one. */
  const single = (call: (ids: string[]) => Promise<unknown>): ((instanceId: string) => Promise<void>) => {
    const ask = async (ids: string[]): Promise<Map<string, true>> => {
      await call(ids);
      return new Map();
    };
    const batched = createBatcher<true>({ clock, sizeMax: taggedInstancesMax, ask, failsAlone: () => true });
    return async (instanceId) => {
      await (batchingEnabled ? batched(instanceId) : ask([instanceId]));
    };
  };
  return {
    tag: single((Resources) => api.ec2(new CreateTagsCommand({ Resources, Tags }))),
    untag: single((Resources) => api.ec2(new DeleteTagsCommand({ Resources, Tags }))),
  };
}
