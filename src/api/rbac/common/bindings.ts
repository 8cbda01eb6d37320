// What both sorts of bindings share (pkg/apis/rbac/validation, ValidateRoleBinding; pkg/printers/internalversion).
import type { RoleBinding, RoleRef, Subject } from '#api/rbac/v1';
import { type FieldError, type Path, root } from '#apimachinery/field';
import { isDNS1123Subdomain, isPathSegmentName } from '#apimachinery/validation';
import { age, columns, wideColumns } from '../../common/printing.ts';
import { collect, isEmpty, type Report } from '../../common/report.ts';
import type { KindDefinition } from '../../kind.ts';

const group = 'rbac.authorization.k8s.io';
const kinds = ['ServiceAccount', 'User', 'Group'];

function defaults({ roleRef, subjects }: RoleBinding): void {
  if (roleRef) roleRef.apiGroup ||= group;
  for (const subject of subjects ?? []) if (subject.kind === 'User' || subject.kind === 'Group') subject.apiGroup ||= group;
}

function validateSubject(report: Report, path: Path, subject: Subject, namespaced: boolean): void {
  const { kind, name, apiGroup = '', namespace } = subject;
  if (isEmpty(name)) report.required(path.child('name'));
  if (kind === 'ServiceAccount') {
    if (name) report.problems(path.child('name'), name, isDNS1123Subdomain(name));
    if (apiGroup !== '') report.notSupported(path.child('apiGroup'), apiGroup, ['']);
    if (!namespaced && isEmpty(namespace)) report.required(path.child('namespace'));
  } else if (kind === 'User' || kind === 'Group') report.known(path.child('apiGroup'), apiGroup, [group]);
  else report.notSupported(path.child('kind'), kind ?? '', kinds);
}

function validateBinding({ roleRef, subjects }: RoleBinding, namespaced: boolean): FieldError[] {
  return collect((report) => {
    const path = root('roleRef');
    report.known(path.child('apiGroup'), roleRef?.apiGroup, [group]);
    report.known(path.child('kind'), roleRef?.kind, namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole']);
    const name = roleRef?.name ?? '';
    if (name === '') report.required(path.child('name'));
    else report.problems(path.child('name'), name, isPathSegmentName(name));
    subjects?.forEach((subject, index) => validateSubject(report, root('subjects').index(index), subject, namespaced));
  });
}

const printed = ({ apiGroup, kind, name }: RoleRef): Record<string, string> => ({
  APIGroup: apiGroup ?? '',
  Kind: kind,
  Name: name,
});

const sameRef = (left: RoleRef, right: RoleRef): boolean =>
  left.apiGroup === right.apiGroup && left.kind === right.kind && left.name === right.name;

const subjectsOf = (subjects: Subject[] | undefined, kind: string): string =>
  (subjects ?? [])
    .filter((subject) => subject.kind === kind)
    .map(({ name, namespace }) => (kind !== 'ServiceAccount' ? name : namespace ? `${namespace}/${name}` : name))
    .join(', ');

/** The definition of a binding, apart from its names. */
export function bindingRules(namespaced: boolean): Omit<KindDefinition<RoleBinding>, 'group' | 'version' | 'kind'> {
  return {
    generation: false,
    defaults,
    validateName: isPathSegmentName,
    validate: (binding) => validateBinding(binding, namespaced),
    validateUpdate: (binding, old) => [
      ...validateBinding(binding, namespaced),
      ...collect((report) => {
        if (!sameRef(binding.roleRef, old.roleRef))
          report.invalid(root('roleRef'), printed(binding.roleRef), 'cannot change roleRef');
      }),
    ],
    allowCreateOnUpdate: true,
    printer: {
      columns: [...columns('Name', 'Role', 'Age'), ...wideColumns('Users', 'Groups', 'ServiceAccounts')],
      cells: ({ metadata, roleRef, subjects }, now) => [
        metadata.name ?? '',
        `${roleRef?.kind ?? ''}/${roleRef?.name ?? ''}`,
        age(metadata, now),
        subjectsOf(subjects, 'User'),
        subjectsOf(subjects, 'Group'),
        subjectsOf(subjects, 'ServiceAccount'),
      ],
    },
  };
}
