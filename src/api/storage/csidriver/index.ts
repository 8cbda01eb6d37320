// Installed volume drivers (storage.k8s.io/v1; pkg/registry/storage/csidriver).
import type { CSIDriver, CSIDriverSpec, TokenRequest } from '#api/storage/v1';
import { type Path, root } from '#apimachinery/field';
import { semanticEqual } from '../../common/equality.ts';
import { immutable } from '../../common/immutable.ts';
import { age, column, orNone } from '../../common/printing.ts';
import { collect, isEmpty, type Report } from '../../common/report.ts';
import { defineKind } from '../../kind.ts';

const path = root('spec');
const tokenSecondsMin = 600;
const tokenSecondsMax = 2 ** 32;
const updateSecondsMin = 10;
const secretsWarning =
  'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes';

function driverDefaults({ spec }: CSIDriver): void {
  spec.attachRequired ??= true;
  spec.podInfoOnMount ??= false;
  spec.storageCapacity ??= false;
  spec.fsGroupPolicy ??= 'ReadWriteOnceWithFSType';
  if (isEmpty(spec.volumeLifecycleModes)) spec.volumeLifecycleModes = ['Persistent'];
  spec.requiresRepublish ??= false;
  spec.seLinuxMount ??= false;
}

function validateTokenRequests(report: Report, at: Path, requests: TokenRequest[]): void {
  const audiences = new Set<string>();
  requests.forEach(({ audience = '', expirationSeconds: seconds }: Partial<TokenRequest>, index) => {
    const item = at.index(index);
    if (audiences.has(audience)) return report.duplicate(item.child('audience'), audience);
    audiences.add(audience);
    if (seconds === undefined) return;
    const field = item.child('expirationSeconds');
    if (seconds < tokenSecondsMin) report.invalid(field, seconds, 'may not specify a duration less than 10 minutes');
    if (seconds > tokenSecondsMax) report.invalid(field, seconds, 'may not specify a duration larger than 2^32 seconds');
  });
}

function validateSpec(report: Report, spec: CSIDriverSpec): void {
  if (spec.attachRequired === undefined) report.required(path.child('attachedRequired'));
  if (spec.podInfoOnMount === undefined) report.required(path.child('podInfoOnMount'));
  if (spec.storageCapacity === undefined) report.required(path.child('storageCapacity'));
  report.knownIfSet(path.child('fsGroupPolicy'), spec.fsGroupPolicy, ['File', 'None', 'ReadWriteOnceWithFSType']);
  validateTokenRequests(report, path.child('tokenRequests'), spec.tokenRequests ?? []);
  for (const mode of spec.volumeLifecycleModes ?? [])
    report.known(path.child('volumeLifecycleModes'), mode, ['Persistent', 'Ephemeral']);
  if (spec.seLinuxMount === undefined) report.required(path.child('seLinuxMount'));
  const { nodeAllocatableUpdatePeriodSeconds: period, serviceAccountTokenInSecrets: inSecrets } = spec;
  if (period !== undefined && period < updateSecondsMin) {
    report.invalid(path.child('nodeAllocatableUpdatePeriodSeconds'), period, 'must be greater than or equal to 10 seconds');
  }
  if (inSecrets !== undefined && isEmpty(spec.tokenRequests)) {
    const detail = 'serviceAccountTokenInSecrets is set but no tokenRequests are specified';
    report.invalid(path.child('serviceAccountTokenInSecrets'), inSecrets, detail);
  }
}

/** VolumeLimitScaling is off in v1.36. */
function dropDisabled({ spec }: CSIDriver, old?: CSIDriver): void {
  if (old?.spec.preventPodSchedulingIfMissing === undefined) delete spec.preventPodSchedulingIfMissing;
}

export const csiDriver = defineKind<CSIDriver>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'CSIDriver',
  metadataRules: 'change',
  deletion: { returnsObject: true },
  newWithoutGeneration: true,
  defaults: driverDefaults,
  prepareForCreate: (draft) => dropDisabled(draft),
  prepareForUpdate: dropDisabled,
  validate: ({ spec }) => collect((report) => validateSpec(report, spec)),
  validateUpdate: ({ spec }, { spec: old }) =>
    collect((report) => {
      validateSpec(report, spec);
      immutable(report, path.child('attachedRequired'), spec.attachRequired, old.attachRequired);
      immutable(report, path.child('volumeLifecycleModes'), spec.volumeLifecycleModes, old.volumeLifecycleModes);
    }),
  warnings: ({ spec }, old) =>
    isEmpty(spec.tokenRequests) ||
    spec.serviceAccountTokenInSecrets !== undefined ||
    (old && semanticEqual(old.spec.tokenRequests, spec.tokenRequests))
      ? []
      : [secretsWarning],
  allowUnconditionalUpdate: false,
  printer: {
    columns: [
      column('Name', { name: true }),
      ...['AttachRequired', 'PodInfoOnMount', 'StorageCapacity'].map((name) => column(name, { type: 'boolean' })),
      column('TokenRequests'),
      column('RequiresRepublish', { type: 'boolean' }),
      column('Modes'),
      column('Age'),
    ],
    cells: ({ metadata, spec }, now) => [
      metadata.name ?? '',
      spec.attachRequired ?? true,
      spec.podInfoOnMount ?? false,
      spec.storageCapacity ?? false,
      spec.tokenRequests?.map(({ audience }) => audience).join(',') ?? '<unset>',
      spec.requiresRepublish ?? false,
      orNone(spec.volumeLifecycleModes?.join(',')),
      age(metadata, now),
    ],
  },
});
