// Groups and versions served by extension servers (apiregistration.k8s.io/v1; k8s.io/kube-aggregator/pkg/registry/apiservice).
import type { APIService, APIServiceSpec } from '#api/apiregistration/v1';
import { type FieldError, root } from '#apimachinery/field';
import { formatTime } from '#apimachinery/meta';
import { isDNS1035Label, isDNS1123Subdomain, isPathSegmentName, isPortNumber } from '#apimachinery/validation';
import { quote } from '#utils';
import { age, columns } from '../../common/printing.ts';
import { collect, isEmpty, type Report } from '../../common/report.ts';
import { keep, ownStatus } from '../../common/strategy.ts';
import { decodedLength } from '../../core/common/data.ts';
import { defineKind } from '../../kind.ts';

const path = root('spec');
const groupPriorityMax = 20_000;
const versionPriorityMax = 1000;
const statuses = ['True', 'False', 'Unknown'];

function validateName(report: Report, { metadata: { name = '' }, spec }: APIService): void {
  if (name === '') return;
  const problems = isPathSegmentName(name);
  const wanted = `${spec?.version ?? ''}.${spec?.group ?? ''}`;
  if (problems.length === 0 && name !== wanted) problems.push(`must be \`spec.version+"."+spec.group\`: ${quote(wanted)}`);
  report.problems(root('metadata', 'name'), name, problems);
}

function validateSpec(report: Report, spec: Partial<APIServiceSpec>): void {
  const { group = '', version = '', groupPriorityMinimum = 0, versionPriority = 0, service } = spec;
  if (group === '' && version !== 'v1')
    report.required(path.child('group'), 'only v1 may have an empty group and it better be legacy kube');
  if (group !== '') report.problems(path.child('group'), group, isDNS1123Subdomain(group));
  report.problems(path.child('version'), version, isDNS1035Label(version));
  if (groupPriorityMinimum <= 0 || groupPriorityMinimum > groupPriorityMax)
    report.invalid(path.child('groupPriorityMinimum'), groupPriorityMinimum, 'must be positive and less than 20000');
  if (versionPriority <= 0 || versionPriority > versionPriorityMax)
    report.invalid(path.child('versionPriority'), versionPriority, 'must be positive and less than 1000');
  if (service) validateRemote(report, spec);
  else validateLocal(report, spec);
}

function validateLocal(report: Report, { caBundle = '', insecureSkipTLSVerify: insecure }: Partial<APIServiceSpec>): void {
  const bytes = decodedLength(caBundle);
  if (bytes > 0) report.invalid(path.child('caBundle'), `${bytes} bytes`, 'local APIServices may not have a caBundle');
  if (insecure)
    report.invalid(path.child('insecureSkipTLSVerify'), insecure, 'local APIServices may not have insecureSkipTLSVerify');
}

function validateRemote(
  report: Report,
  { service = {}, caBundle, insecureSkipTLSVerify: insecure }: Partial<APIServiceSpec>,
): void {
  const at = path.child('service');
  report.need(at, service, 'namespace', 'name');
  const { port = 0 } = service;
  const problems = isPortNumber(port);
  if (problems.length > 0) report.invalid(at.child('port'), port, `port is not valid: ${problems.join(', ')}`);
  if (insecure && !isEmpty(caBundle))
    report.invalid(path.child('insecureSkipTLSVerify'), insecure, 'may not be true if caBundle is present');
}

const validate = (object: APIService): FieldError[] =>
  collect((report) => {
    validateName(report, object);
    validateSpec(report, object.spec ?? { groupPriorityMinimum: 0, versionPriority: 0 });
  });

const availableOf = ({ status }: APIService) => status?.conditions?.find(({ type }) => type === 'Available');

function availableText(object: APIService): string {
  const condition = availableOf(object);
  if (!condition) return 'Unknown';
  return condition.status === 'True' || !condition.reason ? condition.status : `${condition.status} (${condition.reason})`;
}

export const apiService = defineKind<APIService>({
  group: 'apiregistration.k8s.io',
  version: 'v1',
  kind: 'APIService',
  kubeFinalizers: false,
  generation: false,
  defaults({ spec }) {
    if (spec?.service) spec.service.port ??= 443;
  },
  // The name follows from the spec: it is looked at with it.
  validateName: () => [],
  ...ownStatus,
  prepareForCreate(draft, { now }) {
    draft.status = {};
    if (draft.spec?.service) return;
    draft.status.conditions = [
      {
        type: 'Available',
        status: 'True',
        lastTransitionTime: formatTime(now),
        reason: 'Local',
        message: 'Local APIServices are always available',
      },
    ];
  },
  validate,
  validateUpdate: validate,
  allowUnconditionalUpdate: false,
  status: {
    resetFields: [['spec'], ['metadata']],
    prepareForUpdate(draft, old) {
      keep(draft, old, 'spec');
      for (const field of ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const)
        keep(draft.metadata, old.metadata, field);
    },
    validateUpdate: ({ status }) =>
      collect((report) =>
        status?.conditions?.forEach((condition, index) =>
          report.known(root('status', 'conditions').index(index).child('status'), condition.status, statuses),
        ),
      ),
  },
  printer: {
    columns: columns('Name', 'Service', 'Available', 'Age'),
    cells: (object, now) => {
      const { metadata, spec } = object;
      const service = spec?.service ? `${spec.service.namespace ?? ''}/${spec.service.name ?? ''}` : 'Local';
      return [metadata.name ?? '', service, availableText(object), age(metadata, now)];
    },
  },
});
