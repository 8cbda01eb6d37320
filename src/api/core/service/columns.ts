// The row of `kubectl get services` (pkg/printers/internalversion, printService).
import type { LoadBalancerStatus, Service } from '#api/core/v1';
import { age, columns, formatLabels, orNone, wideColumns } from '../../common/printing.ts';
import type { Printer } from '../../kind.ts';
import { specOf } from './rules.ts';

/** Addresses or names of a load balancer; clients cut them to their columns' width. */
export function loadBalancerText(status: LoadBalancerStatus | undefined): string {
  const names = (status?.ingress ?? []).flatMap(({ ip, hostname }) => (ip || hostname ? [ip || hostname || ''] : []));
  return [...new Set(names)].sort().join(',');
}

function externalIP(service: Service): string {
  const { type, externalIPs, externalName } = specOf(service);
  const own = externalIPs ?? [];
  if (type === 'ExternalName') return externalName ?? '';
  if (type === 'ClusterIP' || type === 'NodePort') return orNone(own.join(','));
  if (type !== 'LoadBalancer') return '<unknown>';
  const text = loadBalancerText(service.status?.loadBalancer);
  return [...(text === '' ? [] : [text]), ...own].join(',') || '<pending>';
}

const portsText = (service: Service): string =>
  (specOf(service).ports ?? [])
    .map(({ port, nodePort, protocol }) => (nodePort ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`))
    .join(',');

export const printer: Printer<Service> = {
  columns: [...columns('Name', 'Type', 'Cluster-IP', 'External-IP', 'Port(s)', 'Age'), ...wideColumns('Selector')],
  cells: (service, now) => [
    service.metadata.name ?? '',
    specOf(service).type ?? '',
    orNone(specOf(service).clusterIPs?.[0]),
    externalIP(service),
    orNone(portsText(service)),
    age(service.metadata, now),
    formatLabels(specOf(service).selector),
  ],
};
