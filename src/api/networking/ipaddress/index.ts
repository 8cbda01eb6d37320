// Allocated addresses (networking.k8s.io/v1; KEP-1880; pkg/registry/networking/ipaddress).
import type { IPAddress } from '#api/networking/v1';
import { root } from '#apimachinery/field';
import { isDNS1123Subdomain, isPathSegmentName, validateIP } from '#apimachinery/validation';
import { immutable } from '../../common/immutable.ts';
import { internalForm } from '../../common/internal-form.ts';
import { age, columns } from '../../common/printing.ts';
import { collect, nowhere, type Report } from '../../common/report.ts';
import { defineKind } from '../../kind.ts';
import { validateSegment } from '../common/references.ts';

const path = root('spec', 'parentRef');

function validateParent(report: Report, { spec }: IPAddress): void {
  const parent = spec?.parentRef;
  if (!parent) return report.required(path);
  if (parent.group) report.problems(path.child('group'), parent.group, isDNS1123Subdomain(parent.group));
  validateSegment(report, path.child('resource'), parent.resource);
  validateSegment(report, path.child('name'), parent.name);
  if (parent.namespace) report.problems(path.child('namespace'), parent.namespace, isPathSegmentName(parent.namespace));
}

function parentText({ spec }: IPAddress): string {
  const parent = spec?.parentRef;
  if (!parent) return '<none>';
  const { group, resource, namespace, name } = parent;
  const type = `${resource}${group ? `.${group}` : ''}`.toLowerCase();
  return [type, ...(namespace ? [namespace] : []), name].join('/');
}

export const ipAddress = defineKind<IPAddress>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'IPAddress',
  generation: false,
  validateName: (name) => validateIP(nowhere, name).map(({ detail }) => detail),
  validate: (object) => collect((report) => validateParent(report, object)),
  validateUpdate: (object, old) =>
    collect((report) => {
      validateParent(report, object);
      immutable(
        report,
        path,
        object.spec?.parentRef,
        old.spec?.parentRef,
        object.spec?.parentRef ? internalForm('networking.ParentReference', object.spec.parentRef) : null,
      );
    }),
  printer: {
    // Upstream declares two columns and prints an age after them.
    columns: columns('Name', 'ParentRef'),
    cells: (object, now) => [object.metadata.name ?? '', parentText(object), age(object.metadata, now)],
  },
});
