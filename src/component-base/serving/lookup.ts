// The authorities that the apiserver publishes for components that serve themselves: config map kube-system/extension-apiserver-authentication
// (k8s.io/apiserver/pkg/server/options DelegatingAuthenticationOptions).
import type { Authorities, RequestHeaderOptions } from './caller.ts';
import type { ReviewClient } from './delegated-auth.ts';

const name = 'extension-apiserver-authentication';
const namespace = 'kube-system';
const configMaps = { group: '', version: 'v1', resource: 'configmaps' };

function listOf(data: Readonly<Record<string, string>>, key: string): string[] {
  const value: unknown = JSON.parse(data[key] ?? '[]');
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : [];
}

function requestHeaderOf(data: Readonly<Record<string, string>>): RequestHeaderOptions | undefined {
  const ca = data['requestheader-client-ca-file'];
  if (!ca) return undefined;
  return {
    ca,
    allowedNames: listOf(data, 'requestheader-allowed-names'),
    usernameHeaders: listOf(data, 'requestheader-username-headers'),
    uidHeaders: listOf(data, 'requestheader-uid-headers'),
    groupHeaders: listOf(data, 'requestheader-group-headers'),
    extraHeaderPrefixes: listOf(data, 'requestheader-extra-headers-prefix'),
  };
}

/** What is given stays; what is not is filled in from the cluster. Rejects with an Error that names the way out. */
export async function lookUpAuthorities(client: ReviewClient, given: Authorities): Promise<Authorities> {
  const { clientCa: ownCa, requestHeader: ownHeader } = given;
  if (ownCa !== undefined && ownHeader !== undefined) return given;
  let data: Record<string, string>;
  try {
    data = ((await client.resource(configMaps, namespace).get(name)) as { data?: Record<string, string> }).data ?? {};
  } catch (error) {
    throw new Error(
      `unable to get configmap/${name} in ${namespace}: ${error instanceof Error ? error.message : String(error)}. Usually fixed by 'kubectl create rolebinding -n ${namespace} ROLEBINDING_NAME --role=${name}-reader --serviceaccount=YOUR_NS:YOUR_SA'`,
      { cause: error },
    );
  }
  const clientCa = ownCa ?? data['client-ca-file'];
  const requestHeader = ownHeader ?? requestHeaderOf(data);
  return { ...(clientCa && { clientCa }), ...(requestHeader && { requestHeader }) };
}
