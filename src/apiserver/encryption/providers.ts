// The transformers that a configuration asks for, by resource (k8s.io/apiserver/pkg/server/options/encryptionconfig).
import type { Metrics } from '#component-base';
import type { Clock, Logger, Rng } from '#utils';
import { aesCbc, aesGcm, secretbox } from './ciphers.ts';
import type { EncryptionConfiguration, KeyConfiguration, KmsConfiguration, ProviderConfiguration } from './configuration.ts';
import { type GroupResource, groupResourceText, parseGroupResource } from './group-resource.ts';
import { KmsPlugin } from './kms/plugin.ts';
import type { transformationMetrics } from './metrics.ts';
import { byPrefix, identity, type Prefixed, type Transformer } from './transformer.ts';
import { secretBytes } from './validation.ts';

export interface ProviderDeps {
  clock: Clock;
  rng: Rng;
  logger: Logger;
  metrics: Metrics;
  observe: ReturnType<typeof transformationMetrics>;
  onRecovered(): void;
}

export interface Providers {
  /** Encrypts and decrypts what is stored as this resource. */
  transformerOf(resource: GroupResource): Transformer;
  readonly plugins: readonly KmsPlugin[];
  /** Upstream keeps the plugins of a former configuration for as long, so that requests under way can end. */
  readonly graceMs: number;
}

type Cipher = (secret: Uint8Array) => Transformer;

interface Making {
  deps: ProviderDeps;
  plugins: KmsPlugin[];
  graceMs: number;
}

const ciphers: readonly [keyof ProviderConfiguration & ('aesgcm' | 'aescbc' | 'secretbox'), Cipher, string][] = [
  ['aesgcm', aesGcm, 'AES'],
  ['aescbc', aesCbc, 'AES'],
  ['secretbox', secretbox, 'Secretbox'],
];

function keyed(keys: readonly KeyConfiguration[], cipher: Cipher, family: string, deps: ProviderDeps): Transformer {
  const list = keys.map(({ name = '', secret = '' }) => ({
    prefix: `${name}:`,
    transformer: cipher(secretBytes(secret) ?? Buffer.alloc(0)),
  }));
  return byPrefix(list, `no matching key was found for the provided ${family} transformer`, {
    now: () => deps.clock.monotonic(),
  });
}

async function kms(configuration: KmsConfiguration, making: Making): Promise<Prefixed> {
  const { apiVersion, name = '', endpoint = '', timeout = 0 } = configuration;
  if (apiVersion === 'v1')
    throw new Error(
      'KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 instead.  Set --feature-gates=KMSv1=true to use the deprecated KMSv1 feature.',
    );
  const { deps } = making;
  const { connectKms } = await import('./kms/service.ts');
  const plugin = new KmsPlugin({ ...deps, name, service: connectKms({ name, endpoint, timeoutMs: timeout }, deps) });
  making.plugins.push(plugin);
  making.graceMs += 2 * timeout;
  return { prefix: `k8s:enc:kms:v2:${name}:`, transformer: plugin };
}

async function prefixedOf(provider: ProviderConfiguration, making: Making): Promise<Prefixed> {
  for (const [name, cipher, family] of ciphers) {
    const found = provider[name];
    if (found) return { prefix: `k8s:enc:${name}:v1:`, transformer: keyed(found.keys ?? [], cipher, family, making.deps) };
  }
  return provider.kms ? kms(provider.kms, making) : { prefix: '', transformer: identity };
}

const anything = '*.*';

/** Rejects with an Error for rules that an earlier one masks. Plugins are connected, and asked by nobody yet. */
export async function makeProviders(configuration: EncryptionConfiguration, deps: ProviderDeps): Promise<Providers> {
  const making: Making = { deps, plugins: [], graceMs: 0 };
  const lists = await listsOf(configuration, making).catch((error: unknown) => {
    for (const plugin of making.plugins) plugin.close();
    throw error;
  });
  const now = (): number => deps.clock.monotonic();
  const transformers = new Map<string, Transformer>();
  const transformerOf = (resource: GroupResource): Transformer => {
    const key = `${resource.resource}.${resource.group}`;
    let transformer = transformers.get(key);
    if (!transformer) {
      const list = lists.get(key) ?? lists.get(`*.${resource.group}`) ?? lists.get(anything);
      transformer = list
        ? byPrefix(list, 'no matching prefix found', { observe: deps.observe(groupResourceText(resource)), now })
        : identity;
      transformers.set(key, transformer);
    }
    return transformer;
  };
  return { transformerOf, plugins: making.plugins, graceMs: making.graceMs };
}

/** The transformers of each resource, by its name in the configuration. */
async function listsOf({ resources: rules }: EncryptionConfiguration, making: Making): Promise<Map<string, Prefixed[]>> {
  const lists = new Map<string, Prefixed[]>();
  for (const { resources, providers } of rules) {
    const made: Prefixed[] = [];
    for (const provider of providers) made.push(await prefixedOf(provider, making));
    for (const name of resources) {
      const parsed = parseGroupResource(name);
      for (const mask of [`*.${parsed.group}`, anything])
        if (lists.has(mask))
          throw new Error(
            `resource ${JSON.stringify(groupResourceText(parsed))} is masked by earlier rule ${JSON.stringify(mask)}`,
          );
      const key = `${parsed.resource}.${parsed.group}`;
      lists.set(key, [...(lists.get(key) ?? []), ...made]);
    }
  }
  return lists;
}
