// Encryption of objects in the store, as --encryption-provider-config says it (https://kubernetes.io/docs/tasks/administer-cluster/encrypt-data/).
import type { ServiceDefinition } from '@grpc/grpc-js';
import { readText } from '../platform/files.ts';
import type { HealthCheck, Metrics } from '#component-base';
import type { Store } from '#store';
import type { Clock, Logger, Rng } from '#utils';
import { type ConfigurationSource, followFile, type FollowedFile } from '../configuration/index.ts';
import { parseEncryptionConfiguration } from './configuration.ts';
import { encryptStore, type EncryptedStore } from './encrypted-store.ts';
import type { GroupResource } from './group-resource.ts';
import { reloadHealthMs } from './limits.ts';
import { reloadMetrics, transformationMetrics } from './metrics.ts';
import type { ProviderDeps, Providers } from './providers.ts';

export type { EncryptedStore } from './encrypted-store.ts';
export type { GroupResource } from './group-resource.ts';

/** The gRPC service that a KMS plugin serves. The gRPC runtime is loaded with it, which few clusters need. */
export const kmsServiceDefinition = async (): Promise<ServiceDefinition> =>
  (await import('./kms/descriptors.ts')).kmsServiceDefinition();

export interface EncryptionOptions {
  /** `--encryption-provider-config`. */
  path: string;
  /** `--encryption-provider-config-automatic-reload`. */
  reload: boolean;
}

export interface EncryptionDeps {
  store: Store;
  resourceOf(key: string): GroupResource | undefined;
  clock: Clock;
  rng: Rng;
  logger: Logger;
  metrics: Metrics;
}

export interface Encryption {
  readonly store: EncryptedStore;
  /** For /healthz and /readyz: no restart of this server mends a plugin. */
  readonly checks: readonly HealthCheck[];
  close(): void;
}

const checkName = 'kms-providers';

const wellnessOf = async ({ plugins }: Providers): Promise<void> => {
  const failures: string[] = [];
  for (const [at, plugin] of plugins.entries())
    await plugin.check().catch((error: unknown) => failures.push(`kms-provider-${at}: ${(error as Error).message}`));
  if (failures.length > 0) throw new Error(failures.length > 1 ? `[${failures.join(', ')}]` : failures[0]);
};

const parsed = <T>(result: Promise<T>): Promise<T> =>
  result.catch((error: unknown) => {
    throw new Error(`error while parsing file: ${(error as Error).message}`, { cause: error });
  });

/** Reads the configuration, and opens nothing. Rejects as `openEncryption` would. */
export async function checkEncryptionFile({ path, reload }: EncryptionOptions): Promise<void> {
  const text = await textOf(path);
  await parsed((async () => parseEncryptionConfiguration(text, path, reload))());
}

/** Rejects with an Error in upstream's words when the file cannot be read or does not hold a configuration. */
export async function openEncryption({ path, reload }: EncryptionOptions, deps: EncryptionDeps): Promise<Encryption> {
  const { clock, logger, metrics } = deps;
  let current: Providers;
  let encrypted: EncryptedStore | undefined;
  let follow: FollowedFile | undefined;
  const recovered = (): void => {
    if (encrypted?.hasUnreadable) encrypted.readAgain();
  };
  const closing = new AbortController();
  /** Whose plugins are connected: the present configuration, one that is tried, and former ones for a while. */
  const connected = new Set<Providers>();
  const disconnect = (providers: Providers): void => {
    connected.delete(providers);
    for (const plugin of providers.plugins) plugin.close();
  };
  const providerDeps: ProviderDeps = { ...deps, observe: transformationMetrics(metrics), onRecovered: recovered };
  // With the providers comes the gRPC runtime, which a server without this configuration does not load.
  const { makeProviders } = await import('./providers.ts');
  const load = async (source: ConfigurationSource): Promise<Providers> =>
    makeProviders(parseEncryptionConfiguration(source, path, reload), providerDeps);

  const text = await textOf(path);
  current = await parsed(load(text));
  connected.add(current);
  await Promise.all(current.plugins.map((plugin) => plugin.start()));
  encrypted = encryptStore({ ...deps, transformerOf: (resource) => current.transformerOf(resource) });

  const replace = async (next: ConfigurationSource): Promise<void> => {
    const providers = await load(next);
    connected.add(providers);
    try {
      await whenWell(providers, clock, closing.signal);
    } catch (error) {
      disconnect(providers);
      throw error;
    }
    const former = current;
    current = providers;
    for (const plugin of providers.plugins) void plugin.start();
    clock.setTimer(former.graceMs, () => disconnect(former));
    recovered();
  };
  if (reload) {
    const observe = reloadMetrics(metrics, () => clock.now());
    follow = followFile({ path, loaded: text, load: replace, onResult: ({ error }) => observe(!error), clock, logger });
  }
  return {
    store: encrypted,
    checks: reload || current.plugins.length > 0 ? [{ name: checkName, check: () => wellnessOf(current) }] : [],
    close() {
      follow?.close();
      closing.abort(new Error('the server is closing'));
      for (const providers of connected) disconnect(providers);
    },
  };
}

async function textOf(path: string): Promise<string> {
  try {
    return await readText(path);
  } catch (error) {
    throw new Error(
      `error while parsing file: error while loading file: error reading encryption provider configuration file ${JSON.stringify(path)}: ${(error as Error).message}`,
      { cause: error },
    );
  }
}

/** Waits for the plugins of a new configuration, not for ever, and not when the server closes. */
async function whenWell(providers: Providers, clock: Clock, signal: AbortSignal): Promise<void> {
  const deadline = clock.monotonic() + Math.max(providers.graceMs, reloadHealthMs.wait);
  for (;;) {
    try {
      await wellnessOf(providers);
      return signal.throwIfAborted();
    } catch (error) {
      signal.throwIfAborted();
      if (clock.monotonic() > deadline)
        throw new Error(`health check for new transformers failed: ${(error as Error).message}`, { cause: error });
      await clock.sleep(reloadHealthMs.again, signal);
    }
  }
}
