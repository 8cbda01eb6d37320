// A container's environment from all its sources (upstream kubelet_pods.go makeEnvironmentVariables).
import type { ConfigMap, Container, EnvVar, EnvVarSource, Pod, Secret } from '#api/core/v1';
import { isNotFound } from '#apimachinery/errors';
import { own } from '#utils';
import { type DownwardContext, fieldValue, resourceValue } from './downward.ts';
import { expand } from './expand.ts';

/** Reads of API objects; reject with StatusError. */
export interface ObjectSource {
  configMap(namespace: string, name: string): Promise<ConfigMap>;
  secret(namespace: string, name: string): Promise<Secret>;
}

export interface EnvironmentInput {
  pod: Pod;
  container: Container;
  /** Variables of Services. */
  services: ReadonlyMap<string, string>;
  objects: ObjectSource;
  downward: DownwardContext;
}

const optionally = async <T>(read: Promise<T>, optional: boolean | undefined): Promise<T | undefined> => {
  try {
    return await read;
  } catch (error) {
    if (optional && isNotFound(error)) return undefined;
    throw error;
  }
};

/** The value of a Secret, which JSON carries as base64, as text. */
export const secretText = (value: string): string =>
  new TextDecoder().decode(Uint8Array.from(atob(value), (char) => char.charCodeAt(0)));

async function fromSources({ pod, container, objects }: EnvironmentInput, into: Map<string, string>): Promise<void> {
  const namespace = pod.metadata.namespace ?? '';
  for (const { prefix = '', configMapRef, secretRef } of container.envFrom ?? []) {
    if (configMapRef) {
      const found = await optionally(objects.configMap(namespace, configMapRef.name ?? ''), configMapRef.optional);
      for (const [key, value] of Object.entries(found?.data ?? {})) into.set(prefix + key, value);
    } else if (secretRef) {
      const found = await optionally(objects.secret(namespace, secretRef.name ?? ''), secretRef.optional);
      for (const [key, value] of Object.entries(found?.data ?? {})) into.set(prefix + key, secretText(value));
    }
  }
}

/** The value of one reference; undefined when it is optional and absent. */
async function valueFrom(source: EnvVarSource, input: EnvironmentInput): Promise<string | undefined> {
  const { pod, container, objects, downward } = input;
  const namespace = pod.metadata.namespace ?? '';
  if (source.fieldRef) return fieldValue(source.fieldRef, pod, downward);
  if (source.resourceFieldRef) return resourceValue(source.resourceFieldRef, pod, container, downward);
  const ref = source.configMapKeyRef ?? source.secretKeyRef;
  if (ref === undefined) throw new Error('unsupported source of an environment variable');
  const { name = '', key, optional } = ref;
  const secret = source.configMapKeyRef === undefined;
  const found = await optionally<ConfigMap | Secret>(
    secret ? objects.secret(namespace, name) : objects.configMap(namespace, name),
    optional,
  );
  const value = own(found?.data ?? {}, key);
  if (value === undefined) {
    if (optional) return undefined;
    throw new Error(`couldn't find key ${key} in ${secret ? 'Secret' : 'ConfigMap'} ${namespace}/${name}`);
  }
  return secret ? secretText(value) : value;
}

/** Name to value. Rejects with an Error whose message becomes that of CreateContainerConfigError. */
export async function containerEnvironment(input: EnvironmentInput): Promise<Map<string, string>> {
  const own = new Map<string, string>();
  await fromSources(input, own);
  const lookup = (name: string): string | undefined => own.get(name) ?? input.services.get(name);
  for (const { name, value, valueFrom: source } of (input.container.env ?? []) as EnvVar[]) {
    const result = value ? expand(value, lookup) : source ? await valueFrom(source, input) : '';
    if (result !== undefined) own.set(name, result);
  }
  return new Map([...input.services, ...own]);
}
