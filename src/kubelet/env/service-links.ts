// Docker-style environment variables of Services (upstream pkg/kubelet/envvars).
import type { Service } from '#api/core/v1';

const variable = (name: string): string => name.replaceAll('-', '_').toUpperCase();
const hostPort = (host: string, port: number): string => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`);

function linksOf(service: Service, into: Map<string, string>): void {
  const { clusterIP = '', ports = [] } = service.spec ?? {};
  const prefix = variable(service.metadata.name ?? '');
  const first = ports[0];
  if (first === undefined) return;
  into.set(`${prefix}_SERVICE_HOST`, clusterIP);
  into.set(`${prefix}_SERVICE_PORT`, String(first.port));
  for (const { name, port } of ports) if (name) into.set(`${prefix}_SERVICE_PORT_${variable(name)}`, String(port));
  for (const { port, protocol = 'TCP' } of ports) {
    const lower = protocol.toLowerCase();
    const url = `${lower}://${hostPort(clusterIP, port)}`;
    if (port === first.port && protocol === (first.protocol ?? 'TCP')) into.set(`${prefix}_PORT`, url);
    const own = `${prefix}_PORT_${port}_${protocol.toUpperCase()}`;
    into.set(own, url);
    into.set(`${own}_PROTO`, lower);
    into.set(`${own}_PORT`, String(port));
    into.set(`${own}_ADDR`, clusterIP);
  }
}

/** The API's own Service always; others of the namespace when the pod wants them. */
export function serviceEnvironment(
  services: readonly Service[],
  namespace: string,
  enableServiceLinks: boolean,
): Map<string, string> {
  const environment = new Map<string, string>();
  const chosen = new Map<string, Service>();
  for (const service of services) {
    const { name = '', namespace: own = '' } = service.metadata;
    const ip = service.spec?.clusterIP ?? '';
    if (ip === '' || ip === 'None') continue;
    if (own === 'default' && name === 'kubernetes') {
      if (!chosen.has(name)) chosen.set(name, service);
    } else if (own === namespace && enableServiceLinks) chosen.set(name, service);
  }
  for (const service of chosen.values()) linksOf(service, environment);
  return environment;
}
