// Network policies (networking.k8s.io/v1; pkg/registry/networking/networkpolicy).
import type * as networking from '#api/networking/v1';
import { cidrWarnings } from '#apimachinery/validation';
import { selectorHasInvalidValue } from '../../common/labels.ts';
import { age, columns, formatSelector } from '../../common/printing.ts';
import { collect, isEmpty } from '../../common/report.ts';
import { defineKind } from '../../kind.ts';
import { rulesOf, validateNetworkPolicy } from './validation.ts';

function warnings(policy: networking.NetworkPolicy): string[] {
  return rulesOf(policy).flatMap(({ peers, peersPath }) =>
    peers.flatMap(({ ipBlock }, index) => {
      if (!ipBlock) return [];
      const path = peersPath.index(index).child('ipBlock');
      return [
        ...cidrWarnings(path.child('cidr'), ipBlock.cidr),
        ...(ipBlock.except ?? []).flatMap((cidr, item) => cidrWarnings(path.child('except').index(item), cidr)),
      ];
    }),
  );
}

/** Prefixes the old policy had may stay as they are. */
const prefixesOf = (policy: networking.NetworkPolicy): string[] =>
  rulesOf(policy).flatMap(({ peers }) =>
    peers.flatMap(({ ipBlock }) => (ipBlock ? [ipBlock.cidr, ...(ipBlock.except ?? [])] : [])),
  );

export const networkPolicy = defineKind<networking.NetworkPolicy>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'NetworkPolicy',
  metadataRules: 'change',
  generation: ({ spec }) => spec ?? {},
  defaults(draft) {
    const spec = (draft.spec ??= {});
    for (const { ports } of rulesOf(draft)) for (const port of ports) port.protocol ??= 'TCP';
    if (isEmpty(spec.policyTypes)) spec.policyTypes = isEmpty(spec.egress) ? ['Ingress'] : ['Ingress', 'Egress'];
  },
  validate: (object) => collect((report) => validateNetworkPolicy(report, object, { allowInvalidValues: false, old: [] })),
  validateUpdate: (object, old) =>
    collect((report) =>
      validateNetworkPolicy(report, object, {
        allowInvalidValues: selectorHasInvalidValue(old.spec?.podSelector),
        old: prefixesOf(old),
      }),
    ),
  warnings,
  printer: {
    columns: columns('Name', 'Pod-Selector', 'Age'),
    cells: ({ metadata, spec }, now) => [
      metadata.name ?? '',
      formatSelector((spec?.podSelector ?? {}) as Parameters<typeof formatSelector>[0]),
      age(metadata, now),
    ],
  },
});
