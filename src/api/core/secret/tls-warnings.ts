// What a client is told of a pair that no server could use (crypto/tls, X509KeyPair). Only the PEM blocks are looked at, not what they hold.
import type { Secret } from '#api/core/v1';
import { decodeBase64 } from '#apimachinery/schema';

const begin = '-----BEGIN ';
const end = '-----END ';
const dashes = '-----';

/** Where blocks of one type end; those before `next` lie behind. */
interface Ends {
  at: number[];
  next: number;
}

function endsIn(text: string): Map<string, Ends> {
  const ends = new Map<string, Ends>();
  for (let at = text.indexOf(end); at >= 0; at = text.indexOf(end, at + 1)) {
    const close = text.indexOf(dashes, at + end.length);
    if (close < 0) break;
    const type = text.slice(at + end.length, close);
    const known = ends.get(type);
    if (known) known.at.push(at);
    else ends.set(type, { at: [at], next: 0 });
  }
  return ends;
}

/** Types of the blocks, in one pass over the text, however many begin and never end. */
function blockTypes(text: string): string[] {
  const ends = endsIn(text);
  const types: string[] = [];
  for (let at = text.indexOf(begin); at >= 0; ) {
    const lineEnd = text.indexOf('\n', at);
    if (lineEnd < 0) break;
    const line = text.slice(at + begin.length, lineEnd).trimEnd();
    const type = line.slice(0, -dashes.length);
    const left = line.endsWith(dashes) ? ends.get(type) : undefined;
    while (left && (left.at[left.next] ?? lineEnd) < lineEnd) left.next++;
    const close = left?.at[left.next];
    if (close !== undefined) types.push(type);
    at = text.indexOf(begin, close ?? lineEnd);
  }
  return types;
}

function typesIn(base64: string | undefined): string[] {
  const bytes = decodeBase64(base64 ?? '');
  if (!(bytes instanceof Uint8Array)) return [];
  return blockTypes(new TextDecoder('latin1').decode(bytes));
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
