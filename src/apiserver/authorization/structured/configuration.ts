// AuthorizationConfiguration (apiserver.config.k8s.io v1, v1beta1, v1alpha1): the authorizers in order, several webhooks among them
// (https://kubernetes.io/docs/reference/access-authn-authz/authorization/#using-configuration-file-for-authorization). Pure.
import { aggregate } from '#apimachinery/field';
import { type ConfigurationSource, type FieldsOf, readConfiguration } from '../../configuration/index.ts';
import { authorizationErrors } from './validation.ts';

const webhookFields = {
  authorizedTTL: 'duration',
  cacheAuthorizedRequests: 'bool',
  unauthorizedTTL: 'duration',
  cacheUnauthorizedRequests: 'bool',
  timeout: 'duration',
  subjectAccessReviewVersion: 'string',
  matchConditionSubjectAccessReviewVersion: 'string',
  failurePolicy: 'string',
  connectionInfo: { object: { type: 'string', kubeConfigFile: 'string' } },
  matchConditions: { list: { expression: 'string' } },
} as const;

const fields = { authorizers: { list: { type: 'string', name: 'string', webhook: { object: webhookFields } } } } as const;

export type WebhookConfiguration = FieldsOf<typeof webhookFields>;
export interface AuthorizerConfiguration {
  type: string;
  name: string;
  webhook?: WebhookConfiguration;
}

/** The types of authorizers that `--authorization-mode` and configuration files may name. */
export const authorizerTypes = ['AlwaysAllow', 'AlwaysDeny', 'Node', 'RBAC', 'Webhook'] as const;

const authorizedMs = 300_000;
const unauthorizedMs = 30_000;

const withDefaults = (webhook: WebhookConfiguration): WebhookConfiguration => ({
  ...webhook,
  authorizedTTL: webhook.authorizedTTL || authorizedMs,
  unauthorizedTTL: webhook.unauthorizedTTL || unauthorizedMs,
  cacheAuthorizedRequests: webhook.cacheAuthorizedRequests ?? true,
  cacheUnauthorizedRequests: webhook.cacheUnauthorizedRequests ?? true,
});

/** Throws an Error in upstream's words. `must`: types that have to be there, and no other but webhooks, because they are made once. */
export function parseAuthorizationConfiguration(
  source: ConfigurationSource,
  path: string,
  must?: readonly string[],
): AuthorizerConfiguration[] {
  const failed = (why: string, cause?: unknown): Error =>
    new Error(`failed to load AuthorizationConfiguration from file ${JSON.stringify(path)}: ${why}`, { cause });
  if (source === '') throw failed('empty config data');
  let read: FieldsOf<typeof fields>;
  try {
    read = readConfiguration(source, { kind: 'AuthorizationConfiguration', versions: ['v1', 'v1beta1', 'v1alpha1'], fields });
  } catch (error) {
    throw failed((error as Error).message, error);
  }
  const authorizers = (read.authorizers ?? []).map(({ type = '', name = '', webhook }) => ({
    type,
    name,
    ...(webhook && { webhook: withDefaults(webhook) }),
  }));
  const problems = authorizationErrors(authorizers, authorizerTypes);
  if (problems.length > 0) throw failed(aggregate(problems));
  const misnamed = authorizers.find(({ type, name }) => type !== 'Webhook' && name !== type.toLowerCase());
  if (misnamed)
    throw failed(`expected name ${misnamed.type.toLowerCase()} for authorizer ${misnamed.type} instead of ${misnamed.name}`);
  const types = authorizers
    .map(({ type }) => type)
    .filter((type) => type !== 'Webhook')
    .sort();
  const wanted = must?.filter((type) => type !== 'Webhook').sort() ?? types;
  if (types.join() !== wanted.join())
    throw failed(
      `authorizers: Invalid value: must be of the types ${wanted.join(', ')} beside webhooks, which cannot change without a restart`,
    );
  return authorizers;
}

/** What `--authorization-mode` and the flags of its webhook say. */
export function authorizersOfModes(modes: readonly string[], webhook: WebhookConfiguration): AuthorizerConfiguration[] {
  return modes.map((type) => (type === 'Webhook' ? { type, name: 'default', webhook } : { type, name: type.toLowerCase() }));
}
