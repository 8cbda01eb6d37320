// The configuration checked. It is read as YAML, of which the JSON of cloud.conf is a part.
import { ConfigError, type Logger } from 'sagong/cloud-provider';
import { providerName } from '../names.ts';
import { type AzureConfig, azureSchema, withoutEffect } from './schema.ts';

/** The fields are checked by `checkConfig`, which knows more than this schema can say. */
export const configSchema = { type: 'object', additionalProperties: true } as const;

const shown = (path: readonly PropertyKey[]): string =>
  path.map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index > 0 ? '.' : ''}${String(part)}`)).join('');

/** Throws `ConfigError` that names every wrong field by its path. */
export function checkConfig(given: unknown): AzureConfig {
  const { success, data, error } = azureSchema.safeParse(given);
  if (success) return data;
  const problems = error.issues.flatMap((issue) => {
    const at = shown(issue.path);
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => `${at ? `${at}.` : ''}${key}: is not known`);
    const absent = issue.code === 'invalid_type' && issue.message.endsWith('received undefined');
    return [`${at || 'the configuration'}: ${absent ? 'is required' : issue.message}`];
  });
  throw new ConfigError(providerName, [...new Set(problems)]);
}

/** Says once of each field that has no effect why that is. */
export function tellIgnored(config: AzureConfig, logger: Logger): void {
  for (const [field, reason] of Object.entries(withoutEffect))
    if ((config as Record<string, unknown>)[field] !== undefined)
      logger.warn('a field of the configuration has no effect', { field, reason });
}
