// EncryptionConfiguration (apiserver.config.k8s.io/v1): which resources are encrypted in the store, and how
// (https://kubernetes.io/docs/tasks/administer-cluster/encrypt-data/). Pure.
import { aggregate } from '#apimachinery/field';
import { type ConfigurationSource, type FieldsOf, readConfiguration } from '../configuration/index.ts';
import { configurationErrors } from './validation.ts';

const keys = { keys: { list: { name: 'string', secret: 'string' } } } as const;

const providerFields = {
  aesgcm: { object: keys },
  aescbc: { object: keys },
  secretbox: { object: keys },
  identity: 'present',
  kms: { object: { apiVersion: 'string', name: 'string', cachesize: 'int', endpoint: 'string', timeout: 'duration' } },
} as const;

const fields = { resources: { list: { resources: 'strings', providers: { list: providerFields } } } } as const;

type Read = FieldsOf<typeof fields>;
export type ProviderConfiguration = FieldsOf<typeof providerFields>;
export type KeyConfiguration = FieldsOf<typeof keys.keys.list>;
export type KmsConfiguration = NonNullable<ProviderConfiguration['kms']>;

export interface ResourceConfiguration {
  resources: readonly string[];
  providers: readonly ProviderConfiguration[];
}

export interface EncryptionConfiguration {
  resources: readonly ResourceConfiguration[];
}

const defaultKmsTimeoutMs = 3_000;

function withDefaults(provider: ProviderConfiguration): ProviderConfiguration {
  const { kms } = provider;
  if (!kms) return provider;
  const apiVersion = kms.apiVersion || 'v1';
  const cachesize = kms.cachesize ?? (apiVersion === 'v1' ? 1000 : undefined);
  return {
    ...provider,
    kms: { ...kms, apiVersion, timeout: kms.timeout ?? defaultKmsTimeoutMs, ...(cachesize !== undefined && { cachesize }) },
  };
}

/** `reload`: the file is followed, which makes names of KMS plugins unique among all versions. Throws an Error in upstream's words. */
export function parseEncryptionConfiguration(
  source: ConfigurationSource,
  path: string,
  reload: boolean,
): EncryptionConfiguration {
  if (source === '')
    throw new Error(`error while loading file: encryption provider configuration file ${JSON.stringify(path)} is empty`);
  let read: Read;
  try {
    read = readConfiguration(source, { kind: 'EncryptionConfiguration', versions: ['v1'], fields });
  } catch (error) {
    throw new Error(
      `error decoding encryption provider configuration file ${JSON.stringify(path)}: ${(error as Error).message}`,
      {
        cause: error,
      },
    );
  }
  const resources = (read.resources ?? []).map(({ resources: names = [], providers = [] }) => ({
    resources: names,
    providers: providers.map(withDefaults),
  }));
  const problems = configurationErrors({ resources }, reload);
  if (problems.length > 0) throw new Error(aggregate(problems));
  return { resources };
}
