// Certificates of `https` ports, from Secrets in the namespace of the Service.
import { X509Certificate } from 'node:crypto';
import type { KubeObject, Service } from 'sagong/cloud-provider';
import { textOf } from 'sagong/cloud-provider/kit';
import type { Cloud } from '../cloud.ts';

interface Secret extends KubeObject {
  data?: Record<string, string>;
}
export interface Certificate {
  ssl_cert: string;
  ssl_key: string;
  /** As the API shows it. */
  fingerprint: string;
}

/** Throws for a Secret that is not there, or has no certificate in it. */
export async function certificateIn(cloud: Cloud, service: Service, name: string): Promise<Certificate> {
  const { namespace = '' } = service.metadata;
  const what = `Secret ${namespace}/${name}`;
  const secrets = cloud.client()?.resource<Secret>({ group: '', version: 'v1', resource: 'secrets' }, namespace);
  if (!secrets) throw new Error(`${what} cannot be read yet`);
  const { data = {} } = await secrets.get(name).catch((error: unknown) => {
    throw new Error(`${what}: ${textOf(error)}`, { cause: error });
  });
  const text = (key: string): string =>
    Buffer.from(data[key] ?? '', 'base64')
      .toString('utf8')
      .trim();
  const [cert, key] = [text('tls.crt'), text('tls.key')];
  if (cert === '' || key === '') throw new Error(`${what} has no tls.crt and tls.key`);
  try {
    return { ssl_cert: cert, ssl_key: key, fingerprint: new X509Certificate(cert).fingerprint };
  } catch {
    throw new Error(`tls.crt of ${what} is not a certificate`);
  }
}
