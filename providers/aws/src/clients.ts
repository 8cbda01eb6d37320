// The SDK's clients with the endpoints and the role of the configuration, and one door to them: `api.ec2(command)`. The SDK tries again what is
// worth it; here requests wait while AWS is asked too often, and end with the caller's signal.
import { type $Command, EC2Client, type EC2ClientResolvedConfig } from '@aws-sdk/client-ec2';
import type { ServiceInputTypes as Ec2Input, ServiceOutputTypes as Ec2Output } from '@aws-sdk/client-ec2';
import {
  ElasticLoadBalancingClient,
  type ElasticLoadBalancingClientResolvedConfig,
} from '@aws-sdk/client-elastic-load-balancing';
import type { ServiceInputTypes as ElbInput, ServiceOutputTypes as ElbOutput } from '@aws-sdk/client-elastic-load-balancing';
import {
  ElasticLoadBalancingV2Client,
  type ElasticLoadBalancingV2ClientResolvedConfig,
} from '@aws-sdk/client-elastic-load-balancing-v2';
import type {
  ServiceInputTypes as Elbv2Input,
  ServiceOutputTypes as Elbv2Output,
} from '@aws-sdk/client-elastic-load-balancing-v2';
import type { Clock, Rng } from 'sagong/cloud-provider';
import { inTime } from 'sagong/cloud-provider/kit';
import { assumedRole } from './assumed-role.ts';
import { boundedStream } from './bounded-stream.ts';
import { endpointOf, type ServiceId } from './config/overrides.ts';
import type { AwsConfig } from './config/schema.ts';
import { forController, isThrottling } from './errors.ts';
import { callTimeoutMs, listItemsMax } from './limits.ts';
import type { ApiMetrics } from './metrics.ts';
import { createRetries } from './retries.ts';
import { createThrottle, type Throttle } from './throttle.ts';

type Send<Config, In extends object, Out extends Pick<Ec2Output, '$metadata'>> = <I extends In, O extends Out>(
  command: $Command<I, O, Config & object, In, Out>,
) => Promise<O>;

export interface Api {
  ec2: Send<EC2ClientResolvedConfig, Ec2Input, Ec2Output>;
  elb: Send<ElasticLoadBalancingClientResolvedConfig, ElbInput, ElbOutput>;
  elbv2: Send<ElasticLoadBalancingV2ClientResolvedConfig, Elbv2Input, Elbv2Output>;
}

export interface Clients {
  /** Calls that end when the signal does. */
  api(signal?: AbortSignal): Api;
  destroy(): void;
}

/** The SDK's warning about the Node that its later versions will need is off: its version is pinned to one that runs on the Node that this package names. */
process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';

interface Sendable {
  send(command: never, options: { abortSignal?: AbortSignal }): Promise<unknown>;
  middlewareStack: { add(middleware: never, options: never): void };
}

type Next = (args: unknown) => Promise<{ response?: unknown; output?: unknown }>;
interface CallContext {
  commandName?: string;
  clientName?: string;
}

const operationOf = ({ commandName = '?' }: CallContext): string => commandName.replace(/Command$/, '');

/** Behind the SDK's own retries, so that every attempt counts. */
function watched(client: Sendable, service: ServiceId, throttle: Throttle, { clock, metrics }: ClientDeps): void {
  const paced = (next: Next, context: CallContext) => async (args: unknown) => {
    const delayMs = throttle.next();
    if (delayMs > 0) await clock.sleep(delayMs);
    return next(args).catch((error: unknown) => {
      if (isThrottling(error)) {
        throttle.refused();
        metrics.throttled(operationOf(context));
      }
      throw error;
    });
  };
  const timed = (next: Next, context: CallContext) => async (args: { input: object }) => {
    let result: Awaited<ReturnType<Next>> = {};
    await metrics.of(operationOf(context), args.input, async () => {
      result = await next(args);
      return result.output;
    });
    return result;
  };
  const counted = (next: Next, context: CallContext) => async (args: unknown) => {
    const result = await next(args);
    const { statusCode } = (result.response ?? {}) as { statusCode?: number };
    metrics.answered(service, operationOf(context), statusCode ?? 0);
    return result;
  };
  const { middlewareStack } = client;
  // Around all tries of a call.
  middlewareStack.add(timed as never, { step: 'initialize', name: 'callMetrics' } as never);
  middlewareStack.add(paced as never, { step: 'finalizeRequest', priority: 'low', name: 'throttle' } as never);
  // Within the SDK's own reading of answers, which turns refusals into errors.
  middlewareStack.add(counted as never, { step: 'deserialize', priority: 'low', name: 'statusMetrics' } as never);
}

export interface ClientDeps {
  clock: Clock;
  rng: Pick<Rng, 'next'>;
  metrics: ApiMetrics;
}

interface Retrying {
  config: {
    retryMode: string | (() => Promise<string>);
    retryStrategy: () => Promise<unknown>;
    maxAttempts: () => Promise<number>;
  };
}

/** Waits between tries are in the time of our clock, but for the SDK's adaptive mode, which is the SDK's alone. */
function retryInTime({ config }: Retrying, { clock, rng }: ClientDeps): void {
  const { retryMode, retryStrategy, maxAttempts } = config;
  const retries = createRetries({ clock, rng, attemptsMax: maxAttempts });
  config.retryStrategy = async () => {
    const mode = typeof retryMode === 'function' ? await retryMode() : retryMode;
    return mode === 'adaptive' ? retryStrategy() : retries;
  };
}

export function createClients(config: AwsConfig, region: string, deps: ClientDeps): Clients {
  const throttle = createThrottle(deps.clock);
  const credentials = assumedRole(config, region);
  const optionsOf = (id: ServiceId) => ({
    region,
    streamCollector: boundedStream,
    ...(credentials && { credentials }),
    ...endpointOf(config, id, region),
  });
  const ec2 = new EC2Client(optionsOf('EC2'));
  const elb = new ElasticLoadBalancingClient(optionsOf('Elastic Load Balancing'));
  const elbv2 = new ElasticLoadBalancingV2Client(optionsOf('Elastic Load Balancing v2'));
  watched(ec2 as never, 'EC2', throttle, deps);
  watched(elb as never, 'Elastic Load Balancing', throttle, deps);
  watched(elbv2 as never, 'Elastic Load Balancing v2', throttle, deps);
  for (const client of [ec2, elb, elbv2]) retryInTime(client as unknown as Retrying, deps);

  const sender =
    (client: unknown, signal: AbortSignal | undefined) =>
    async (command: object): Promise<never> => {
      const operation = command.constructor.name.replace(/Command$/, '');
      try {
        const send = (abortSignal: AbortSignal): Promise<unknown> => (client as Sendable).send(command as never, { abortSignal });
        return (await inTime(send, deps.clock, callTimeoutMs, signal)) as never;
      } catch (error) {
        throw forController(operation, error, throttle.delayMs());
      }
    };
  return {
    api: (signal) => ({ ec2: sender(ec2, signal), elb: sender(elb, signal), elbv2: sender(elbv2, signal) }),
    destroy() {
      for (const client of [ec2, elb, elbv2]) client.destroy();
    },
  };
}

/** Asks for all pages of an answer, and gives their items as one list. */
export async function pages<Page, Item>(
  ask: (token: string | undefined) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[] | undefined,
  tokenOf: (page: Page) => string | undefined,
  pagesMax: number,
): Promise<Item[]> {
  const items: Item[] = [];
  let token: string | undefined;
  for (let page = 0; page < pagesMax; page++) {
    const answer = await ask(token);
    for (const item of itemsOf(answer) ?? []) items.push(item);
    if (items.length > listItemsMax) throw new Error(`AWS gives more than ${listItemsMax} items`);
    token = tokenOf(answer) || undefined;
    if (token === undefined) return items;
  }
  throw new Error(`AWS gives more than ${pagesMax} pages`);
}
