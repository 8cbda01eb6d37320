// Ingress classes (networking.k8s.io/v1; pkg/registry/networking/ingressclass).
import type { IngressClass, IngressClassParametersReference } from '#api/networking/v1';
import { type Path, root } from '#apimachinery/field';
import { byteLength, isDNS1123Label, validateDomainPrefixedPath } from '#apimachinery/validation';
import { immutable } from '../../common/immutable.ts';
import { age, columns } from '../../common/printing.ts';
import { collect, type Report } from '../../common/report.ts';
import { defineKind } from '../../kind.ts';
import { validateTypedReference } from '../common/references.ts';

const controllerBytesMax = 250;
const path = root('spec', 'controller');

function validateParameters(report: Report, at: Path, parameters: IngressClassParametersReference): void {
  validateTypedReference(report, at, parameters);
  const { scope, namespace } = parameters;
  if (scope === undefined || scope === null) return report.required(at.child('scope'));
  report.known(at.child('scope'), scope, ['Cluster', 'Namespace']);
  const field = at.child('namespace');
  if (scope === 'Namespace') {
    if (namespace === undefined) report.required(field, "`parameters.scope` is set to 'Namespace'");
    else report.problems(field, namespace, isDNS1123Label(namespace));
  } else if (scope === 'Cluster' && namespace !== undefined) report.forbidden(field, "`parameters.scope` is set to 'Cluster'");
}

function validateClass(report: Report, { spec = {} }: IngressClass): void {
  const { controller = '', parameters } = spec;
  if (byteLength(controller) > controllerBytesMax) report.tooLong(path, controllerBytesMax);
  report.add(validateDomainPrefixedPath(path, controller));
  if (parameters) validateParameters(report, root('spec', 'parameters'), parameters);
}

function parametersText({ spec }: IngressClass): string {
  if (!spec?.parameters) return '<none>';
  const { apiGroup, kind, name } = spec.parameters;
  return `${kind}${apiGroup === undefined ? '' : `.${apiGroup}`}/${name}`;
}

export const ingressClass = defineKind<IngressClass>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'IngressClass',
  generation: ({ spec }) => spec ?? {},
  defaults({ spec }) {
    if (spec?.parameters) spec.parameters.scope ??= 'Cluster';
  },
  validate: (object) => collect((report) => validateClass(report, object)),
  validateUpdate: (object, old) =>
    collect((report) => {
      immutable(report, path, object.spec?.controller ?? '', old.spec?.controller ?? '');
      validateClass(report, object);
    }),
  printer: {
    columns: columns('Name', 'Controller', 'Parameters', 'Age'),
    cells: (object, now) => {
      const { metadata, spec } = object;
      const isDefault = metadata.annotations?.['ingressclass.kubernetes.io/is-default-class'] === 'true';
      return [
        `${metadata.name ?? ''}${isDefault ? ' (default)' : ''}`,
        spec?.controller ?? '',
        parametersText(object),
        age(metadata, now),
      ];
    },
  },
});
