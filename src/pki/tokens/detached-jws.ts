// Signatures that travel apart from what they sign: bootstrap tokens over the cluster's public configuration (RFC 7515 appendix F, HS256).
import { createHmac } from 'node:crypto';

const base64url = (text: string): string => Buffer.from(text, 'utf8').toString('base64url');

/** The compact form without its middle part: `<header>..<signature>`. */
export function detachedJws(content: string, keyId: string, secret: string): string {
  const header = base64url(JSON.stringify({ alg: 'HS256', kid: keyId }));
  const signature = createHmac('sha256', secret)
    .update(`${header}.${base64url(content)}`)
    .digest('base64url');
  return `${header}..${signature}`;
}
