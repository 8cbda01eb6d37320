// A KMS plugin, asked over gRPC on a unix socket (k8s.io/kms/apis/v2: service v2.KeyManagementService).
import { type Client, credentials, loadPackageDefinition, Metadata, status } from '@grpc/grpc-js';
import { exponentialBuckets, type Metrics } from '#component-base';
import type { Clock } from '#utils';
import { kmsServiceDefinition } from './descriptors.ts';

export interface KmsStatus {
  version: string;
  healthz: string;
  keyId: string;
}

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

const codeName = (code: number): string => {
  const name = Object.entries(status).find(([, value]) => value === code)?.[0] ?? 'UNKNOWN';
  return name === 'OK' ? 'OK' : name.toLowerCase().replace(/(^|_)([a-z])/g, (_, __, letter: string) => letter.toUpperCase());
};

export function connectKms(
  { name, endpoint, timeoutMs }: { name: string; endpoint: string; timeoutMs: number },
  { clock, metrics }: { clock: Clock; metrics: Metrics },
): KmsService {
  const { Service } = loadPackageDefinition({ Service: kmsServiceDefinition() }) as unknown as {
    Service: new (address: string, credential: object) => Client;
  };
  const client = new Service(endpoint, credentials.createInsecure());
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
    return new Promise<T>((resolve, reject) => {
      const unary = (client as unknown as Record<string, (...args: unknown[]) => void>)[method];
      const deadline = new Date(clock.now() + timeoutMs);
      unary?.call(client, request, new Metadata(), { deadline }, (error: { code: number; details: string } | null, answer: T) => {
        done(error?.code ?? 0);
        if (error) reject(new Error(`rpc error: code = ${codeName(error.code)} desc = ${error.details}`));
        else resolve(answer);
      });
    });
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
