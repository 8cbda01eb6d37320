// Asks the cluster for a certificate by a CertificateSigningRequest and waits until it was approved and signed (client-go/util/certificate/csr;
// https://kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/).
import type { CertificateSigningRequest } from '#api/certificates/v1';
import { type CertificateAndKey, createCertificateRequest, generateKeyPair, privateKeyPem, type SubjectOptions } from '#pki';
import type { WatchStream } from '#apimachinery/transport';
import type { KubeClient, ResourceClient } from '../types.ts';

type Csr = CertificateSigningRequest;

export interface CertificateWish {
  signerName: string;
  usages: readonly string[];
  subject: SubjectOptions;
}

/** The request was answered, and the answer will not change. */
export class DeniedError extends Error {
  override name = 'DeniedError';
}

const requests = { group: 'certificates.k8s.io', version: 'v1', resource: 'certificatesigningrequests' };
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Makes a key and asks for its certificate. Rejects when the request was denied, when its signer will not sign it, and when `signal` is aborted first. */
export async function requestCertificate(
  client: KubeClient,
  wish: CertificateWish,
  signal: AbortSignal,
): Promise<CertificateAndKey> {
  const { privateKey } = generateKeyPair();
  const resource = client.resource<Csr>(requests);
  const made = await resource.create({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { generateName: 'csr-' },
    spec: {
      request: base64(createCertificateRequest({ ...wish.subject, privateKey })),
      signerName: wish.signerName,
      usages: [...wish.usages],
    },
  });
  const cert = await issued(resource, made.metadata.name ?? '', signal);
  return { cert, key: privateKeyPem(privateKey) };
}

/** The certificate in a request, or undefined while it is waited for. Throws when the request was denied or has failed. */
function outcomeOf({ metadata, status }: Csr): string | undefined {
  for (const { type, reason = '', message = '' } of status?.conditions ?? []) {
    if (type === 'Denied')
      throw new DeniedError(`certificate signing request ${metadata.name} is denied, reason: ${reason}, message: ${message}`);
    if (type === 'Failed')
      throw new DeniedError(`certificate signing request ${metadata.name} failed, reason: ${reason}, message: ${message}`);
  }
  const approved = status?.conditions?.some(({ type }) => type === 'Approved') ?? false;
  return approved && status?.certificate ? Buffer.from(status.certificate, 'base64').toString('utf8') : undefined;
}

async function issued(resource: ResourceClient<Csr>, name: string, signal: AbortSignal): Promise<string> {
  for (;;) {
    signal.throwIfAborted();
    const now = await resource.get(name);
    const there = outcomeOf(now);
    if (there !== undefined) return there;
    const { resourceVersion = '' } = now.metadata;
    const stream = await resource.watch({ fieldSelector: `metadata.name=${name}`, resourceVersion });
    const seen = await firstOutcome(stream, signal);
    if (seen !== undefined) return seen;
  }
}

/** Waits for the certificate on a watch; undefined when the watch ended before there was one. */
function firstOutcome(stream: WatchStream<Csr>, signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => finish(() => reject(signal.reason as Error));
    const finish = (settle: () => void): void => {
      signal.removeEventListener('abort', aborted);
      settle();
      stream.stop();
    };
    signal.addEventListener('abort', aborted, { once: true });
    stream.subscribe(
      ({ type, object }) => {
        if (type !== 'ADDED' && type !== 'MODIFIED') return;
        try {
          const there = outcomeOf(object);
          if (there !== undefined) finish(() => resolve(there));
        } catch (error) {
          finish(() => reject(error as Error));
        }
      },
      () => finish(() => resolve(undefined)),
    );
  });
}
