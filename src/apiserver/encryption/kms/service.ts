// A KMS plugin, asked over gRPC on a unix socket (k8s.io/kms/apis/v2: service v2.KeyManagementService).
import { credentials, loadPackageDefinition, type ServiceClientConstructor, type ServiceError, status } from '@grpc/grpc-js';
import { exponentialBuckets, type Metrics } from '#component-base';
import type { Clock } from '#utils';
import { callUnary, codeName, failureText } from '#wire/grpc';
import { kmsServiceDefinition } from './descriptors.ts';

/** The plugin was asked and has not answered: it is away, or hangs. */
export class SilentPluginError extends Error {
  override name = 'SilentPluginError';
}

export interface KmsStatus {
  version: string;
  healthz: string;
  keyId: string;
}

/** Rejects with SilentPluginError where the plugin does not answer, with another Error for what it answers else. */
export interface KmsService {
  status(): Promise<KmsStatus>;
  encrypt(
    uid: string,
    plaintext: Uint8Array,
  ): Promise<{ ciphertext: Uint8Array; keyId: string; annotations: Record<string, Uint8Array> }>;
  decrypt(
    uid: string,
    request: { ciphertext: Uint8Array; keyId: string; annotations: Readonly<Record<string, Uint8Array>> },
  ): Promise<Uint8Array>;
  close(): void;
}

export function connectKms(
  { name, endpoint, timeoutMs }: { name: string; endpoint: string; timeoutMs: number },
  { clock, metrics }: { clock: Clock; metrics: Metrics },
): KmsService {
  const { Service } = loadPackageDefinition({ Service: kmsServiceDefinition() });
  const client = new (Service as ServiceClientConstructor)(endpoint, credentials.createInsecure());
  const latency = metrics.histogram({
    name: 'apiserver_envelope_encryption_kms_operations_latency_seconds',
    help: 'KMS operation duration with gRPC error code status total.',
    labels: ['provider_name', 'method_name', 'grpc_status_code'],
    buckets: exponentialBuckets(0.0001, 2, 20),
  });
  const call = async <T>(method: 'Status' | 'Encrypt' | 'Decrypt', request: object): Promise<T> => {
    const since = clock.monotonic();
    const done = (code: number): void =>
      latency.observe((clock.monotonic() - since) / 1000, name, `/v2.KeyManagementService/${method}`, codeName(code));
    try {
      const answer = await callUnary<T>({ client, method, request, deadlineMs: clock.now() + timeoutMs });
      done(0);
      return answer;
    } catch (error) {
      const failure = error as ServiceError;
      done(failure.code);
      const isSilent = failure.code === status.DEADLINE_EXCEEDED || failure.code === status.UNAVAILABLE;
      throw new (isSilent ? SilentPluginError : Error)(failureText(failure));
    }
  };
  return {
    status: () => call('Status', {}),
    encrypt: async (uid, plaintext) => {
      const { ciphertext, keyId, annotations } = await call<{
        ciphertext: Uint8Array;
        keyId: string;
        annotations?: Record<string, Uint8Array>;
      }>('Encrypt', { uid, plaintext });
      return { ciphertext, keyId, annotations: annotations ?? {} };
    },
    decrypt: async (uid, request) => (await call<{ plaintext: Uint8Array }>('Decrypt', { uid, ...request })).plaintext,
    close: () => client.close(),
  };
}
