// The names of proxy requests: `name`, `name:port`, `scheme:name:port` (k8s.io/apimachinery/pkg/util/net).

export interface ProxyName {
  /** '' or 'http' or 'https'. */
  scheme: string;
  name: string;
  /** A number or a name; '' where the path names no port. */
  port: string;
}

/** Reads `name`, `name:port` or `scheme:name:port`; undefined where the text is none of these. */
export function parseProxyName(id: string): ProxyName | undefined {
  const parts = id.split(':');
  if (parts.length > 3) return undefined;
  const [scheme = '', name = '', port = ''] = parts.length === 3 ? parts : ['', ...parts];
  return name !== '' && ['', 'http', 'https'].includes(scheme) ? { scheme, name, port } : undefined;
}
