// Certificate signing requests (certificates.k8s.io/v1; pkg/registry/certificates/certificates).
import type { CertificateSigningRequest, CertificateSigningRequestCondition } from '#api/certificates/v1';
import { formatTime } from '#apimachinery/meta';
import { firstOfEach } from '#utils';
import { age, columns, humanDuration } from '../../common/printing.ts';
import { keep } from '../../common/strategy.ts';
import { defineKind, type KindContext } from '../../kind.ts';
import { conditionsOf, validateRequest, validateRequestUpdate } from './validation.ts';

type CSR = CertificateSigningRequest;

/** Who asks is what the request says, never what the body says. */
function recordRequestor({ spec }: CSR, { user }: KindContext): void {
  for (const field of ['username', 'uid', 'groups', 'extra'] as const) delete spec[field];
  if (!user) return;
  spec.username = user.name;
  if (user.uid) spec.uid = user.uid;
  if (user.groups.length > 0) spec.groups = [...user.groups];
  if (user.extra && Object.keys(user.extra).length > 0) spec.extra = { ...user.extra };
}

/** Decisions can only be made through their own door: the same number of them stays as it was. */
function preserveDecisions(draft: CSR, old: CSR): void {
  for (const type of ['Approved', 'Denied']) {
    const before = conditionsOf(old, type);
    if (before.length !== conditionsOf(draft, type).length || !draft.status?.conditions) continue;
    let next = 0;
    draft.status.conditions = draft.status.conditions.map((condition) =>
      condition.type === type ? { ...condition, ...before[next++] } : condition,
    );
  }
}

function fillTimes(draft: CSR, old: CSR, now: number): void {
  const key = ({ type, status }: CertificateSigningRequestCondition): string => JSON.stringify([type, status]);
  const before = firstOfEach(
    conditionsOf(old).filter(({ lastTransitionTime }) => lastTransitionTime),
    key,
  );
  for (const condition of conditionsOf(draft)) {
    condition.lastUpdateTime ??= formatTime(now);
    const same = before.get(key(condition));
    condition.lastTransitionTime ??= same?.lastTransitionTime ?? formatTime(now);
  }
}

function statusText({ status }: CSR): string {
  const has = (type: string): boolean => status?.conditions?.some((condition) => condition.type === type) ?? false;
  const decision = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending';
  return `${decision}${has('Failed') ? ',Failed' : ''}${status?.certificate ? ',Issued' : ''}`;
}

export const certificateSigningRequest = defineKind<CSR>({
  group: 'certificates.k8s.io',
  version: 'v1',
  kind: 'CertificateSigningRequest',
  generation: false,
  validateName: () => [],
  prepareForCreate(draft, context) {
    recordRequestor(draft, context);
    draft.status = {};
  },
  prepareForUpdate(draft, old) {
    keep(draft, old, 'spec');
    keep(draft, old, 'status');
  },
  validate: (object, context) => validateRequest(object, context),
  validateUpdate: (object, old, context) => validateRequestUpdate(object, old, context, ''),
  resetFields: [['spec'], ['status']],
  status: {
    prepareForUpdate(draft, old, { now }) {
      keep(draft, old, 'spec');
      preserveDecisions(draft, old);
      fillTimes(draft, old, now);
    },
    validateUpdate: (object, old, context) => validateRequestUpdate(object, old, context, 'status'),
    resetFields: [['spec'], ['status', 'conditions']],
  },
  doors: {
    approval: {
      prepareForUpdate(draft, old, { now }) {
        fillTimes(draft, old, now);
        keep(draft, old, 'spec');
        const conditions = conditionsOf(draft);
        draft.status = { ...old.status, conditions };
      },
      validateUpdate: (object, old, context) => validateRequestUpdate(object, old, context, 'approval'),
      resetFields: [['spec'], ['status', 'certificate']],
    },
  },
  printer: {
    columns: columns('Name', 'Age', 'SignerName', 'Requestor', 'RequestedDuration', 'Condition'),
    cells: (object, now) => {
      const { metadata, spec } = object;
      const { expirationSeconds: seconds } = spec;
      return [
        metadata.name ?? '',
        age(metadata, now),
        spec.signerName || '<none>',
        spec.username ?? '',
        seconds === undefined ? '<none>' : humanDuration(seconds * 1000),
        statusText(object),
      ];
    },
  },
  selectableFields: ({ spec }) => ({ 'spec.signerName': spec.signerName }),
});
