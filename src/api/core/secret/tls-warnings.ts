// What a client is told of a pair that no server could use (crypto/tls, X509KeyPair). Only the PEM blocks are looked at, not what they hold.
import type { Secret } from '#api/core/v1';
import { decodeBase64 } from '#apimachinery/schema';

const block = /-----BEGIN ([^\r\n]*)-----[ \t]*\r?\n[\s\S]*?-----END \1-----/g;

function typesIn(base64: string | undefined): string[] {
  const bytes = decodeBase64(base64 ?? '');
  if (!(bytes instanceof Uint8Array)) return [];
  return [...new TextDecoder('latin1').decode(bytes).matchAll(block)].map(([, type]) => type ?? '');
}

const isKey = (type: string): boolean => type === 'PRIVATE KEY' || type.endsWith(' PRIVATE KEY');

function certificateProblem(types: readonly string[]): string | undefined {
  if (types.includes('CERTIFICATE')) return undefined;
  const [first, ...more] = types;
  if (first === undefined) return 'failed to find any PEM data in certificate input';
  return first.endsWith('PRIVATE KEY') && more.length === 0
    ? 'failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched'
    : `failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [${types.join(' ')}]`;
}

function keyProblem(types: readonly string[]): string | undefined {
  if (types.some(isKey)) return undefined;
  if (types.length === 0) return 'failed to find any PEM data in key input';
  return types.length === 1 && types[0] === 'CERTIFICATE'
    ? 'found a certificate rather than a key in the PEM for the private key'
    : `failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [${types.join(' ')}]`;
}

export function tlsWarnings({ type, data }: Secret): string[] {
  if (type !== 'kubernetes.io/tls') return [];
  const problem = certificateProblem(typesIn(data?.['tls.crt'])) ?? keyProblem(typesIn(data?.['tls.key']));
  return problem === undefined ? [] : [`tls: ${problem}`];
}
