// The flags of the tagging controller (cloud-provider-aws pkg/controllers/options). Pure.
import { defaultFlagValues, type ProviderFlag, type ProviderFlagValues } from 'sagong/cloud-provider';

export interface TaggingOptions {
  tags: Readonly<Record<string, string>>;
  resources: readonly string[];
  rateLimit: number;
  burstLimit: number;
  workerCount: number;
  batchingEnabled: boolean;
}

const section = 'Tagging controller';
const prefix = 'tagging-controller';

export const taggingFlags: Readonly<Record<keyof TaggingOptions, ProviderFlag>> = {
  tags: {
    name: 'tags',
    type: 'stringMap',
    default: {},
    help: 'Tags to apply to AWS resources in the tagging controller, in a form of key=value.',
    section,
  },
  resources: {
    name: 'resources',
    type: 'strings',
    default: [],
    help: 'AWS resources name to add/remove tags in the tagging controller. Only: instance.',
    section,
  },
  rateLimit: {
    name: `${prefix}-rate-limit`,
    type: 'float',
    default: 0,
    help: 'Items of the queue that are processed in a second. Zero: no limit.',
    section,
  },
  burstLimit: {
    name: `${prefix}-burst-limit`,
    type: 'int',
    default: 0,
    help: 'Items of the queue that are processed at once before the rate limit holds. Zero: no limit.',
    section,
  },
  workerCount: {
    name: `${prefix}-concurrent-node-syncs`,
    type: 'int',
    default: 1,
    help: 'Nodes in work at once.',
    section,
  },
  batchingEnabled: {
    name: `${prefix}-enable-batching`,
    type: 'bool',
    default: false,
    help: 'Tag and untag several instances with one call.',
    section,
  },
};

/** Only instances, as upstream. */
const supported = ['instance'];

export const taggingOptionsOf = (values: ProviderFlagValues = {}): TaggingOptions =>
  ({ ...defaultFlagValues(taggingFlags), ...values }) as unknown as TaggingOptions;

/** Why the controller cannot run with these; undefined: it can. */
export function taggingProblem(options: TaggingOptions): string | undefined {
  const { tags, resources, rateLimit, burstLimit, workerCount } = options;
  const unknown = resources.find((resource) => !supported.includes(resource));
  const problem =
    (Object.keys(tags).length === 0 && '--tags must not be empty and must be a form of key=value') ||
    (resources.length === 0 && '--resources must not be empty') ||
    (rateLimit < 0 && `--${prefix}-rate-limit should not be less than zero`) ||
    (burstLimit < 0 && `--${prefix}-burst-limit should not be less than zero`) ||
    (workerCount <= 0 && `--${prefix}-concurrent-node-syncs must be a positive number`) ||
    (unknown !== undefined && `${unknown} is not a supported resource. Current supported resources [${supported.join(' ')}]`);
  return problem ? `Tagging controller inputs are not properly set: ${problem}` : undefined;
}
