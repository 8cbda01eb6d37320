// How a manager comes to tokens: as the managed identity of its machine, in the way of Azure's App Service, where a header with a secret goes before the question
// (https://learn.microsoft.com/azure/app-service/overview-managed-identity#rest-endpoint-reference).
import { createHash, createHmac } from 'node:crypto';
import { sameSecret } from 'sagong/cloud-provider/emulator';
import { Refusal, type Routes, type VendorRequest } from 'sagong/cloud-provider/test-server';
import { tokenSeconds } from './limits.ts';

const path = '/msi/token';
export const identityEndpoint = (url: string): string => url + path;

/** Of the account, always the same: libraries keep tokens by it. */
export function clientIdOf(secret: string): string {
  const digits = createHash('sha256').update(secret).digest('hex');
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `4${digits.slice(13, 16)}`,
    `8${digits.slice(17, 20)}`,
    digits.slice(20, 32),
  ].join('-');
}

export interface Identity {
  routes: Routes;
  /** Throws for a request that shows neither the secret, where it asks for a token, nor the token. */
  checkAccess(request: VendorRequest): void;
}

export function createIdentity(secret: string, now: () => number): Identity {
  const token = createHmac('sha256', secret).update('access token').digest('base64url');
  return {
    routes: {
      [`GET ${path}`]: ({ url }) => ({
        body: {
          access_token: token,
          client_id: clientIdOf(secret),
          expires_on: String(Math.floor(now() / 1_000) + tokenSeconds),
          resource: url.searchParams.get('resource') ?? '',
          token_type: 'Bearer',
        },
      }),
    },
    checkAccess({ url, headers }) {
      if (url.pathname === path) {
        if (!sameSecret(headers['x-identity-header'], secret))
          throw new Refusal(401, 'Unauthorized', 'The header X-IDENTITY-HEADER is not that of this machine.');
        return;
      }
      if (!sameSecret(headers['authorization'], `Bearer ${token}`))
        throw new Refusal(401, 'InvalidAuthenticationToken', 'The access token is invalid.');
    },
  };
}
