// A component that acts as a service account: makes the account if need be and asks for tokens in time (client-go's
// DynamicSimpleControllerClientBuilder; https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-request-v1/).
import { isAlreadyExists, isNotFound } from '#apimachinery/errors';
import type { Clock } from '#utils';
import { serviceAccountTokenSeconds } from './limits.ts';
import type { KubeClient } from './types.ts';

interface TokenRequest {
  status?: { token: string; expirationTimestamp: string };
}

const accounts = { group: '', version: 'v1', resource: 'serviceaccounts' };
/** Renewed when this part of its life is over. */
const renewAfter = 0.8;

/** Gives a function that always answers with a fresh token. `client` must be allowed to create tokens. */
export function serviceAccountToken(client: KubeClient, clock: Clock, namespace: string, name: string): () => Promise<string> {
  let current: { token: string; renewAtMs: number } | undefined;
  let asking: Promise<string> | undefined;
  const resource = client.resource(accounts, namespace);

  const request = async (): Promise<string> => {
    const body = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: { name, namespace },
      spec: { expirationSeconds: serviceAccountTokenSeconds },
    };
    const ask = (): Promise<TokenRequest> => resource.createSubresource<TokenRequest>(name, 'token', body);
    const answer = await ask().catch(async (error: unknown) => {
      if (!isNotFound(error)) throw error;
      await resource.create({ metadata: { name, namespace } }).catch((again: unknown) => {
        if (!isAlreadyExists(again)) throw again;
      });
      return ask();
    });
    if (!answer.status) throw new Error(`no token for service account ${namespace}/${name}`);
    const lifeMs = Date.parse(answer.status.expirationTimestamp) - clock.now();
    current = { token: answer.status.token, renewAtMs: clock.now() + lifeMs * renewAfter };
    return current.token;
  };
  return () => {
    if (current && clock.now() < current.renewAtMs) return Promise.resolve(current.token);
    asking ??= request().finally(() => {
      asking = undefined;
    });
    return asking;
  };
}
