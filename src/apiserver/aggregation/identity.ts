// Who asks, as the front proxy tells another API server (https://kubernetes.io/docs/tasks/extend-kubernetes/configure-aggregation-layer/;
// k8s.io/client-go/transport, SetAuthProxyHeaders). It is believed for the client certificate that the connection presents.
import type { UserInfo } from '../request/request.ts';

export type Headers = Record<string, string | readonly string[]>;

/** The user as which the aggregator itself asks. */
export const aggregatorUser: UserInfo = { name: 'system:kube-aggregator', groups: ['system:masters'] };

/** A key of `extra` as a part of a header's name (RFC 9110 token); capitals and everything else are %-escaped. */
const escapedKey = (key: string): string =>
  [...Buffer.from(key, 'utf8')]
    .map((byte) => {
      const letter = String.fromCharCode(byte);
      return /[a-z0-9!#$&'*+.^_`|~-]/.test(letter) ? letter : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');

export function identityHeaders({ name, uid = '', groups, extra = {} }: UserInfo): Headers {
  const headers: Headers = { 'x-remote-user': name };
  if (uid !== '') headers['x-remote-uid'] = uid;
  if (groups.length > 0) headers['x-remote-group'] = groups;
  for (const [key, values] of Object.entries(extra))
    if (values.length > 0) headers[`x-remote-extra-${escapedKey(key).toLowerCase()}`] = values;
  return headers;
}
