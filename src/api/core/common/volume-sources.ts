// Rules of the volume sources that pods and persistent volumes share, or that differ in a reference only (pkg/apis/core/validation). A
// table per owner says which sources it has, in the order in which upstream looks at them.
import type * as core from '#api/core/v1';
import type { Path } from '#apimachinery/field';
import { byteLength, inclusiveRangeError, isDNS1123Label, isDNS1123Subdomain } from '#apimachinery/validation';
import { compileRegexp, type Regexp } from '#regexp';
import { isEmpty, type Report } from '../../common/report.ts';
import { validateLocalDescendingPath, validatePathNoBacksteps } from './paths.ts';

/** One source of a volume: the rule, and the names upstream's messages use where they are not the field's. */
export interface SourceRule<T, C = undefined> {
  /** Path of failures inside the source. */
  path?: string;
  /** Path of the failure "more than 1". */
  field?: string;
  validate(report: Report, path: Path, source: T, context: C): void;
  /** The source is checked even when it is one too many. */
  always?: boolean;
  /** Further rules that apply even when the source is one too many. */
  beside?(report: Report, path: Path, source: T, context: C): void;
}

/** Exactly one of the sources in `table`; `owner` holds them by name. */
export function validateOneSource<C>(
  report: Report,
  path: Path,
  owner: object,
  table: Record<string, SourceRule<never, C>>,
  context: C,
): void {
  const sources = owner as Record<string, unknown>;
  let found = 0;
  for (const name in table) {
    const source = sources[name];
    if (source === undefined || source === null) continue;
    const rule = table[name] as unknown as SourceRule<unknown, C>;
    if (found > 0 && !rule.always) report.forbidden(path.child(rule.field ?? name), 'may not specify more than 1 volume type');
    else {
      found++;
      rule.validate(report, path.child(rule.path ?? name), source, context);
    }
    rule.beside?.(report, path, source, context);
  }
  if (found === 0) report.required(path, 'must specify a volume type');
}

/** The rule of a source of which nothing is checked but that these fields are there. */
export const needs = <T extends object>(...names: (keyof T & string)[]): SourceRule<T, never> => ({
  validate: (report, path, source) => report.need(path, source, ...names),
});

const hostPathTypes = ['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket'];

export function hostPath(report: Report, path: Path, source: core.HostPathVolumeSource): void {
  if (isEmpty(source.path)) return report.required(path.child('path'));
  validatePathNoBacksteps(report, path.child('path'), source.path);
  report.knownIfSet(path.child('type'), source.type, hostPathTypes);
}

export function gitRepo(report: Report, path: Path, source: core.GitRepoVolumeSource): void {
  report.need(path, source, 'repository');
  validateLocalDescendingPath(report, path.child('directory'), source.directory ?? '');
}

const partition = (report: Report, path: Path, value = 0): void => {
  if (value < 0 || value > 255) report.invalid(path.child('partition'), value, inclusiveRangeError(1, 255));
};

export function gcePersistentDisk(report: Report, path: Path, source: core.GCEPersistentDiskVolumeSource): void {
  report.need(path, source, 'pdName');
  partition(report, path, source.partition);
}

export function awsElasticBlockStore(report: Report, path: Path, source: core.AWSElasticBlockStoreVolumeSource): void {
  report.need(path, source, 'volumeID');
  partition(report, path, source.partition);
}

export function nfs(report: Report, path: Path, source: core.NFSVolumeSource): void {
  report.need(path, source, 'server', 'path');
  if (!source.path?.startsWith('/')) report.invalid(path.child('path'), source.path ?? '', 'must be an absolute path');
}

export function quobyte(report: Report, path: Path, source: core.QuobyteVolumeSource): void {
  const pairs = 'must be a host:port pair or multiple pairs separated by commas';
  if (isEmpty(source.registry)) report.required(path.child('registry'), pairs);
  else if (byteLength(source.tenant ?? '') >= 65) {
    report.required(path.child('tenant'), 'must be a UUID and may not exceed a length of 64 characters');
  } else {
    for (const pair of source.registry.split(',')) {
      if (!isHostPort(pair)) report.invalid(path.child('registry'), source.registry, pairs);
    }
  }
  report.need(path, source, 'volume');
}

const isHostPort = (pair: string): boolean => /^(\[[^[\]]*\]|[^:[\]]*):[^:[\]]*$/.test(pair);

export function flocker(report: Report, path: Path, source: core.FlockerVolumeSource): void {
  const { datasetName, datasetUUID } = source;
  if (!datasetName && !datasetUUID) report.required(path, 'one of datasetName and datasetUUID is required');
  if (datasetName && datasetUUID)
    report.invalid(path, 'resource', 'datasetName and datasetUUID can not be specified simultaneously');
  if (datasetName?.includes('/')) report.invalid(path.child('datasetName'), datasetName, "must not contain '/'");
}

export function fc(report: Report, path: Path, source: core.FCVolumeSource): void {
  const { targetWWNs, wwids, lun } = source;
  const at = path.child('targetWWNs');
  if (isEmpty(targetWWNs) && isEmpty(wwids)) report.required(at, 'must specify either targetWWNs or wwids, but not both');
  if (!isEmpty(targetWWNs) && !isEmpty(wwids))
    report.invalid(at, targetWWNs, 'targetWWNs and wwids can not be specified simultaneously');
  if (isEmpty(targetWWNs)) return;
  if (lun === undefined) report.required(path.child('lun'), 'lun is required if targetWWNs is specified');
  else lunRange(report, path, lun);
}

const lunRange = (report: Report, path: Path, lun = 0): void => {
  if (lun < 0 || lun > 255) report.invalid(path.child('lun'), lun, inclusiveRangeError(0, 255));
};

export function flexVolume(report: Report, path: Path, source: { driver: string; options?: Record<string, string> }): void {
  report.need(path, source, 'driver');
  for (const key in source.options) {
    const domain = `.${key.split('/')[0]?.toLowerCase()}`;
    if (domain.endsWith('.kubernetes.io') || domain.endsWith('.k8s.io')) {
      report.invalid(path.child('options').key(key), key, 'kubernetes.io and k8s.io namespaces are reserved');
    }
  }
}

const managedURI = '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}';
const blobURI = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';

export function azureDisk(report: Report, path: Path, source: core.AzureDiskVolumeSource): void {
  report.need(path, source, 'diskName', 'diskURI');
  report.knownIfSet(path.child('cachingMode'), source.cachingMode, ['None', 'ReadOnly', 'ReadWrite']);
  report.knownIfSet(path.child('kind'), source.kind, ['Dedicated', 'Managed', 'Shared']);
  if (source.kind === undefined) return;
  const managed = source.kind === 'Managed';
  if (!source.diskURI?.startsWith(managed ? '/subscriptions/' : 'https://')) {
    report.notSupported(path.child('diskURI'), source.diskURI ?? '', [managed ? managedURI : blobURI]);
  }
}

let qualifiedName: Regexp | undefined;
/**
 * Tells whether the text holds an iSCSI qualified name; upstream looks for one anywhere in it. The work of this pattern grows with the text alone. It is
 * compiled for the first such volume, because that takes milliseconds of a start.
 */
const hasQualifiedName = (text: string): boolean =>
  (qualifiedName ??= compileRegexp('iqn\\.\\d{4}-\\d{2}\\.([\\w\\-.]+)(:[^,;*&$|\\s]+)$')).test(text);
const iqnForms: [string, { test(text: string): boolean }][] = [
  ['iqn', { test: hasQualifiedName }],
  ['eui', /^eui.[0-9A-Za-z]{16}$/],
  ['naa', /^naa.[0-9A-Za-z]{32}$/],
];

function iscsiName(report: Report, path: Path, name: string, otherwise: string): void {
  const form = iqnForms.find(([prefix]) => name.startsWith(prefix));
  if (form === undefined) report.invalid(path, name, otherwise);
  else if (!form[1].test(name)) report.invalid(path, name, 'must be valid format');
}

/** Checks the iSCSI source of a pod, whose secret is in the pod's namespace. */
export function iscsi(report: Report, path: Path, source: core.ISCSIVolumeSource): void {
  const start = 'must be valid format starting with iqn, eui, or naa';
  iscsiCommon(report, path, source, start, start);
}

/** Checks the iSCSI source of a persistent volume. */
export function iscsiPersistent(report: Report, path: Path, source: core.ISCSIPersistentVolumeSource, volumeName: string): void {
  iscsiCommon(report, path, source, 'must be valid format', 'must be valid format', () => {
    if (source.initiatorName !== undefined && byteLength(`${volumeName}:${source.targetPortal}`) > 64) {
      report.invalid(path.child('targetportal'), source.targetPortal, iscsiTooLong);
    }
  });
}

export const iscsiTooLong =
  'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';

function iscsiCommon(
  report: Report,
  path: Path,
  source: core.ISCSIPersistentVolumeSource,
  iqnOtherwise: string,
  initiatorOtherwise: string,
  persistent?: () => void,
): void {
  report.need(path, source, 'targetPortal');
  persistent?.();
  if (isEmpty(source.iqn)) report.required(path.child('iqn'));
  else iscsiName(report, path.child('iqn'), source.iqn, iqnOtherwise);
  lunRange(report, path, source.lun);
  if ((source.chapAuthDiscovery || source.chapAuthSession) && !source.secretRef) report.required(path.child('secretRef'));
  if (persistent && source.secretRef) report.need(path.child('secretRef'), source.secretRef, 'name');
  if (source.initiatorName !== undefined)
    iscsiName(report, path.child('initiatorname'), source.initiatorName, initiatorOtherwise);
}

export function storageos(report: Report, path: Path, source: core.StorageOSVolumeSource): void {
  if (isEmpty(source.volumeName)) report.required(path.child('volumeName'));
  else report.problems(path.child('volumeName'), source.volumeName, isDNS1123Label(source.volumeName ?? ''));
  if (source.volumeNamespace)
    report.problems(path.child('volumeNamespace'), source.volumeNamespace, isDNS1123Label(source.volumeNamespace));
  if (source.secretRef) report.need(path.child('secretRef'), source.secretRef, 'name');
}

export function csiDriverName(report: Report, path: Path, name: string | undefined): void {
  if (!name) return report.required(path);
  if (byteLength(name) > 63) report.tooLong(path, 63);
  report.problems(path, name, isDNS1123Subdomain(name.toLowerCase()));
}
