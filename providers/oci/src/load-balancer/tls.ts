// TLS of load balancers: which ports end it, and with the certificates of which Secrets. Pure.
import { createHash } from 'node:crypto';
import type { Service } from 'sagong/cloud-provider';
import { annotation, objectOf, read } from '../annotations.ts';
import type { SslConfiguration } from '../api/types.ts';

export interface SecretName {
  namespace: string;
  name: string;
}
type Side = 'listener' | 'backendSet';

export interface TlsPlan {
  ports: readonly number[];
  listener?: SecretName;
  backendSet?: SecretName;
  /** Ciphers and protocols. */
  options: Record<Side, Partial<SslConfiguration>>;
  /** Names of the certificates in OCI, once the Secrets are read. */
  certificates: Partial<Record<Side, string>>;
}

/** `name`, or `namespace/name`. */
function secretOf(service: Service, name: string): SecretName | undefined {
  const text = read(service).text(name);
  if (text === undefined) return undefined;
  const parts = text.split('/');
  if (parts.length > 2 || parts.includes('')) throw new Error(`annotation ${name}: ${JSON.stringify(text)} is not a Secret`);
  const [first = '', second] = parts;
  return second === undefined ? { namespace: service.metadata.namespace ?? '', name: first } : { namespace: first, name: second };
}

/** The fields are read without case, as Go reads them. */
function optionsOf(service: Service, name: string): Partial<SslConfiguration> {
  const options: Partial<SslConfiguration> = {};
  for (const [field, value] of Object.entries(objectOf(service, name) ?? {})) {
    const plain = field.toLowerCase();
    if (plain === 'ciphersuitename' && typeof value === 'string') options.cipherSuiteName = value;
    else if (plain === 'protocols' && Array.isArray(value) && value.every((one) => typeof one === 'string'))
      options.protocols = value;
    else throw new Error(`annotation ${name}: ${field} is not CipherSuiteName (a text) or Protocols (a list)`);
  }
  return options;
}

function portsOf(service: Service): number[] {
  const { list } = read(service);
  return list(annotation.sslPorts).map((text) => {
    if (!/^\d{1,5}$/.test(text)) throw new Error(`parse SSL port: ${JSON.stringify(text)} is not a number`);
    return Number(text);
  });
}

/** Without `ssl-ports` no port ends TLS, whatever the Secrets are. */
export function tlsPlanOf(service: Service): TlsPlan {
  const ports = portsOf(service);
  const options = {
    listener: optionsOf(service, annotation.listenerSsl),
    backendSet: optionsOf(service, annotation.backendSsl),
  };
  if (ports.length === 0) return { ports, options, certificates: {} };
  const listener = secretOf(service, annotation.tlsSecret);
  const backendSet = secretOf(service, annotation.tlsBackendSecret);
  return { ports, options, certificates: {}, ...(listener && { listener }), ...(backendSet && { backendSet }) };
}

export const noTls: TlsPlan = { ports: [], options: { listener: {}, backendSet: {} }, certificates: {} };

export function sslOf({ ports, options, certificates }: TlsPlan, side: Side, port: number): SslConfiguration | undefined {
  const certificateName = certificates[side];
  if (certificateName === undefined || !ports.includes(port)) return undefined;
  return { certificateName, verifyDepth: 0, verifyPeerCertificate: false, ...options[side] };
}

/**
 * A certificate in OCI cannot be changed, so one with other content has another name: that of the Secret and a digest. Upstream names it after the
 * Secret alone, and goes on with the old content when the Secret changes.
 */
export const certificateName = (secret: string, content: readonly string[]): string =>
  `${secret}-${createHash('sha256').update(content.join('\n')).digest('hex').slice(0, 10)}`;
