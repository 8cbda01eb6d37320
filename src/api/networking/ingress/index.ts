// Ingresses (networking.k8s.io/v1; pkg/registry/networking/ingress).
import type { Ingress, IngressRule } from '#api/networking/v1';
import { root } from '#apimachinery/field';
import { ipWarnings } from '#apimachinery/validation';
import { age, columns } from '../../common/printing.ts';
import { collect, isEmpty } from '../../common/report.ts';
import { ownStatus, statusDoor } from '../../common/strategy.ts';
import { loadBalancerText } from '../../core/service/columns.ts';
import { defineKind } from '../../kind.ts';
import { rulesForUpdate, strictRules, validateIngress, validateIngressStatus } from './validation.ts';

const classAnnotation = 'kubernetes.io/ingress.class';
const hostsShown = 3;

/** At most three hosts; upstream counts rules past the third as more, and those without a host as none. */
function hostsText(rules: IngressRule[]): string {
  const hosts: string[] = [];
  let hasMore = false;
  for (const { host } of rules) {
    if (hosts.length === hostsShown) hasMore = true;
    if (!hasMore && host) hosts.push(host);
  }
  if (hosts.length === 0) return '*';
  return hasMore ? `${hosts.join(',')} + ${rules.length - hostsShown} more...` : hosts.join(',');
}

export const ingress = defineKind<Ingress>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'Ingress',
  generation: ({ spec }) => spec ?? {},
  ...ownStatus,
  prepareForCreate(draft) {
    draft.status = { loadBalancer: {} };
  },
  validate: (object) =>
    collect((report) => {
      validateIngress(report, object, strictRules);
      const given = object.metadata.annotations?.[classAnnotation];
      const name = object.spec?.ingressClassName;
      if (given !== undefined && name !== undefined && given !== name) {
        const path = root('annotations', classAnnotation);
        report.invalid(path, given, 'must match `ingressClassName` when both are specified');
      }
    }),
  validateUpdate: (object, old) => collect((report) => validateIngress(report, object, rulesForUpdate(old))),
  warnings: ({ metadata, spec }, old) =>
    old === undefined && metadata.annotations?.[classAnnotation] !== undefined && spec?.ingressClassName === undefined
      ? [`annotation "${classAnnotation}" is deprecated, please use 'spec.ingressClassName' instead`]
      : [],
  status: statusDoor({
    validateUpdate: validateIngressStatus,
    warnings: ({ status }) =>
      (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }, index) =>
        ip ? ipWarnings(root('status', 'loadBalancer', 'ingress').index(index), ip) : [],
      ),
  }),
  printer: {
    columns: columns('Name', 'Class', 'Hosts', 'Address', 'Ports', 'Age'),
    cells: ({ metadata, spec, status }, now) => [
      metadata.name ?? '',
      spec?.ingressClassName ?? '<none>',
      hostsText(spec?.rules ?? []),
      loadBalancerText(status?.loadBalancer),
      isEmpty(spec?.tls) ? '80' : '80, 443',
      age(metadata, now),
    ],
  },
});
