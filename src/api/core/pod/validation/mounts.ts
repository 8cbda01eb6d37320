// Rules of volume mounts and block devices (pkg/apis/core/validation, ValidateVolumeMounts and ValidateVolumeDevices). Upstream reports
// some failures on the list instead of the item; so do we.
import type { Volume, VolumeDevice, VolumeMount } from '#api/core/v1';
import type { Path } from '#apimachinery/field';
import { isEmpty, type Report } from '../../../common/report.ts';
import { hasBackstep, validateLocalDescendingPath } from '../../common/paths.ts';
import type { AnyContainer } from '../containers.ts';

const propagations = ['Bidirectional', 'HostToContainer', 'None'];
const recursiveReadOnly = ['Disabled', 'Enabled', 'IfPossible'];

export function validateVolumeMounts(
  report: Report,
  path: Path,
  container: AnyContainer,
  volumes: ReadonlyMap<string, Volume>,
): void {
  const seen = new Set<string>();
  const devices = new Set(container.volumeDevices?.map(({ name }) => name));
  const devicePaths = new Set(container.volumeDevices?.map(({ devicePath }) => devicePath));
  container.volumeMounts?.forEach((mount, index) => {
    const at = path.index(index);
    const name = mount.name ?? '';
    const mountPath = mount.mountPath ?? '';
    if (name === '') report.required(at.child('name'));
    if (!volumes.has(name)) report.notFound(at.child('name'), name);
    if (mountPath === '') report.required(at.child('mountPath'));
    if (seen.has(mountPath)) report.invalid(at.child('mountPath'), mountPath, 'must be unique');
    seen.add(mountPath);
    if (devices.has(name)) report.invalid(at.child('name'), name, 'must not already exist in volumeDevices');
    if (devicePaths.has(mountPath)) {
      report.invalid(at.child('mountPath'), mountPath, 'must not already exist as a path in volumeDevices');
    }
    validateSubPaths(report, path, at, mount);
    validatePropagation(report, path.child('mountPropagation'), mount, container);
    validateRecursiveReadOnly(report, path.child('recursiveReadOnly'), mount);
  });
}

function validateSubPaths(report: Report, list: Path, path: Path, { subPath, subPathExpr }: VolumeMount): void {
  if (subPath) validateLocalDescendingPath(report, list.child('subPath'), subPath);
  if (!subPathExpr) return;
  if (subPath) report.invalid(path.child('subPathExpr'), subPathExpr, 'subPathExpr and subPath are mutually exclusive');
  validateLocalDescendingPath(report, list.child('subPathExpr'), subPathExpr);
}

function validatePropagation(report: Report, path: Path, { mountPropagation: mode }: VolumeMount, container: AnyContainer): void {
  if (mode === undefined) return;
  report.known(path, mode, propagations);
  if (mode === 'Bidirectional' && container.securityContext?.privileged !== true) {
    report.forbidden(path, 'Bidirectional mount propagation is available only to privileged containers');
  }
}

function validateRecursiveReadOnly(report: Report, path: Path, mount: VolumeMount): void {
  const mode = mount.recursiveReadOnly;
  if (mode === undefined || mode === 'Disabled') return;
  if (!recursiveReadOnly.includes(mode)) return report.notSupported(path, mode, recursiveReadOnly);
  if (!mount.readOnly) report.forbidden(path, 'may only be specified when readOnly is true');
  if (mount.mountPropagation !== undefined && mount.mountPropagation !== 'None') {
    report.forbidden(path, 'may only be specified when mountPropagation is None or not specified');
  }
}

export function validateVolumeDevices(
  report: Report,
  path: Path,
  container: AnyContainer,
  volumes: ReadonlyMap<string, Volume>,
): void {
  const names = new Set<string>();
  const paths = new Set<string>();
  const mounts = new Set(container.volumeMounts?.map((mount) => mount.name));
  const mountPaths = new Set(container.volumeMounts?.map(({ mountPath }) => mountPath));
  container.volumeDevices?.forEach((device, index) => {
    const at = path.index(index);
    const name = device.name ?? '';
    const devicePath = device.devicePath ?? '';
    validateDeviceName(report, at.child('name'), device, volumes.get(name), names);
    if (isEmpty(devicePath)) report.required(at.child('devicePath'));
    if (paths.has(devicePath)) report.invalid(at.child('devicePath'), devicePath, 'must be unique');
    if (hasBackstep(devicePath)) report.invalid(at.child('devicePath'), devicePath, "can not contain backsteps ('..')");
    else paths.add(devicePath);
    if (mounts.has(name)) report.invalid(at.child('name'), name, 'must not already exist in volumeMounts');
    if (mountPaths.has(devicePath)) {
      report.invalid(at.child('devicePath'), devicePath, 'must not already exist as a path in volumeMounts');
    }
    if (name !== '') names.add(name);
  });
}

function validateDeviceName(
  report: Report,
  path: Path,
  { name = '' }: Partial<VolumeDevice>,
  volume: Volume | undefined,
  names: ReadonlySet<string>,
): void {
  if (name === '') report.required(path);
  if (names.has(name)) report.invalid(path, name, 'must be unique');
  if (volume === undefined) report.notFound(path, name);
  else if (!volume.persistentVolumeClaim && !volume.ephemeral) {
    report.invalid(path, name, 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode');
  }
}
