// Certificates of load balancers, from Secrets.
import type { KubeObject } from 'sagong/cloud-provider';
import { textOf } from 'sagong/cloud-provider/kit';
import type { Certificate } from '../api/types.ts';
import type { Cloud } from '../cloud.ts';
import { certificateName, type SecretName, type TlsPlan } from './tls.ts';

interface Secret extends KubeObject {
  data?: Record<string, string>;
}

/** Throws for a Secret that is not there, or has no certificate and key in it. */
async function certificateIn(cloud: Pick<Cloud, 'client'>, { namespace, name }: SecretName): Promise<Certificate> {
  const what = `Secret ${namespace}/${name}`;
  const secrets = cloud.client()?.resource<Secret>({ group: '', version: 'v1', resource: 'secrets' }, namespace);
  if (!secrets) throw new Error(`${what} cannot be read yet`);
  const { data = {} } = await secrets.get(name).catch((error: unknown) => {
    throw new Error(`${what}: ${textOf(error)}`, { cause: error });
  });
  const text = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString('utf8');
  for (const key of ['tls.crt', 'tls.key'])
    if (text(key) === '') throw new Error(`${key} not found in secret ${namespace}/${name}`);
  const [publicCertificate, privateKey, caCertificate, passphrase] = [
    text('tls.crt'),
    text('tls.key'),
    text('ca.crt'),
    text('passphrase'),
  ];
  return {
    certificateName: certificateName(name, [publicCertificate, caCertificate, privateKey, passphrase]),
    publicCertificate,
    privateKey,
    ...(caCertificate && { caCertificate }),
    ...(passphrase && { passphrase }),
  };
}

export interface ReadTls {
  /** With the names of the certificates. */
  tls: TlsPlan;
  certificates: Record<string, Certificate>;
}

/** Reads the Secrets that a plan names. */
export async function readCertificates(cloud: Pick<Cloud, 'client'>, tls: TlsPlan): Promise<ReadTls> {
  const listener = tls.listener && (await certificateIn(cloud, tls.listener));
  const backendSet = tls.backendSet && (await certificateIn(cloud, tls.backendSet));
  const all = [listener, backendSet].filter((one) => one !== undefined);
  const names = {
    ...(listener && { listener: listener.certificateName }),
    ...(backendSet && { backendSet: backendSet.certificateName }),
  };
  return {
    tls: { ...tls, certificates: names },
    certificates: Object.fromEntries(all.map((one) => [one.certificateName, one])),
  };
}
