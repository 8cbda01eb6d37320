// `sagong up --encrypt-secrets`: Secrets are encrypted in the store with a key beside the cluster's other keys (secretbox, as upstream advises
// where no KMS is at hand). What protects them is that the key and the store can be kept, backed up and copied apart.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeApiServer } from '#apiserver/app';
import { atomicWrite, readFileIfExists } from '#host';
import type { Logger } from '#utils';

const fileOf = (pkiDir: string): string => join(pkiDir, 'encryption.json');
const keyBytes = 32;

/**
 * Rejects with a sentence where Secrets have been encrypted already, and what they are read with is gone or damaged: a new key would read none of them, and
 * everything would go on as if that were so.
 */
export async function assertSecretKey(pkiDir: string): Promise<void> {
  const path = fileOf(pkiDir);
  const what = `what the Secrets of this cluster are encrypted with is in ${path}`;
  const howOn = 'put it back from a copy of the folder';
  if (!existsSync(path))
    throw new Error(
      `${what}, which is gone: ${howOn}; without one they are lost, and a file with a new key there starts the cluster without them`,
    );
  const { checkEncryptionFile } = await import('#apiserver/app');
  await checkEncryptionFile({ path, reload: true }).catch((error: Error) => {
    throw new Error(`${what}, which cannot be used (${error.message}): mend it, or ${howOn}`, { cause: error });
  });
}

/** The configuration of the apiserver, made when it is first asked for. */
export async function secretEncryption(pkiDir: string): Promise<{ path: string; reload: boolean }> {
  const path = fileOf(pkiDir);
  if ((await readFileIfExists(path)) === undefined) {
    const keys = [{ name: 'key1', secret: randomBytes(keyBytes).toString('base64') }];
    const configuration = {
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'EncryptionConfiguration',
      resources: [{ resources: ['secrets'], providers: [{ secretbox: { keys } }, { identity: {} }] }],
    };
    await atomicWrite(path, `${JSON.stringify(configuration, null, 2)}\n`, { mode: 0o600 });
  }
  return { path, reload: true };
}

/** Writes again what was stored before there was a key, or with another one; the rest is not touched. */
export async function rewriteSecrets({ cluster, writer }: KubeApiServer, logger: Logger): Promise<void> {
  for (const { metadata } of cluster.list('', 'secrets')) {
    const { namespace = '', name = '' } = metadata;
    try {
      await writer.update('', 'secrets', namespace, name, (secret) => secret);
    } catch (error) {
      logger.warn('a Secret stays in the store as it was written', { namespace, name, err: (error as Error).message });
    }
  }
}
