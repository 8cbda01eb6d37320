// Rules of a claim's status: what was allocated, for whom, and how the devices are (pkg/apis/resource/validation).
import type * as resource from '#api/resource/v1';
import { type FieldError, type Path, root } from '#apimachinery/field';
import { byteLength, type Condition, validateConditions, validateInterfaceAddress } from '#apimachinery/validation';
import { firstOfEach } from '#utils';
import { semanticEqual } from '../../common/equality.ts';
import { immutable } from '../../common/immutable.ts';
import { internalForm } from '../../common/internal-form.ts';
import { collect, isEmpty, type Report } from '../../common/report.ts';
import { validateNodeSelector } from '../../core/pod/validation/affinity.ts';
import { type RequestNames, requestNamesOf, validateRequestRef, validateRequestRefs } from '../common/claim.ts';
import { validateBindingConditions, validateConfiguration, validateRawObject } from '../common/devices.ts';
import { limits } from '../common/limits.ts';
import { validateSet, validateSlice } from '../common/lists.ts';
import { validateDriverName, validateLabel, validatePoolName } from '../common/names.ts';

type Claim = resource.ResourceClaim;
type DeviceRef = Pick<resource.AllocatedDeviceStatus, 'driver' | 'pool' | 'device' | 'shareID'>;

const path = root('status');
const uuid = /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/;
const uidForm =
  'uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters';

/** What names one device, or one share of it; as upstream prints it. */
const deviceID = ({ driver = '', pool = '', device = '', shareID = '' }: Partial<DeviceRef>) => ({
  Driver: driver,
  Pool: pool,
  Device: device,
  ShareID: shareID,
});

const allocatedOf = ({ status }: Claim): Set<string> =>
  new Set((status?.allocation?.devices?.results ?? []).map((result) => JSON.stringify(deviceID(result))));

/** Statuses of devices that are no longer allocated go with the allocation. */
export function dropDeallocated(draft: Claim, old: Claim): void {
  const { status } = draft;
  if (!status?.devices) return;
  const now = allocatedOf(draft);
  const before = allocatedOf(old);
  const kept = status.devices.filter((device) => {
    const id = JSON.stringify(deviceID(device));
    return now.has(id) || !before.has(id);
  });
  if (kept.length > 0) status.devices = kept;
  else delete status.devices;
}

export function validateStatusUpdate(claim: Claim, old: Claim): FieldError[] {
  return collect((report) => {
    const { reservedFor = [], allocation, devices } = claim.status ?? {};
    const reservedPath = path.child('reservedFor');
    const needs = (user: resource.ResourceClaimConsumerReference, at: Path): void =>
      report.need(at, user, 'resource', 'name', 'uid');
    validateSet(report, reservedPath, reservedFor, limits.reservedForMax, needs, ({ uid }) => uid);
    const allocated = allocatedOf(claim);
    const rule = (device: resource.AllocatedDeviceStatus, at: Path): void => validateDeviceStatus(report, at, device, allocated);
    validateSet(report, path.child('devices'), devices, Number.POSITIVE_INFINITY, rule, deviceID);
    if (!isEmpty(reservedFor)) validateReservations(report, reservedPath, claim, old);
    if (!allocation) return;
    const at = path.child('allocation');
    const before = old.status?.allocation;
    if (before) immutable(report, at, allocation, before, internalForm('resource.AllocationResult', allocation));
    else validateAllocation(report, at, allocation, requestNamesOf(claim.spec.devices));
  });
}

function validateReservations(report: Report, at: Path, { metadata, status }: Claim, old: Claim): void {
  if (!status?.allocation) return report.forbidden(at, 'may not be specified when `allocated` is not set');
  const before = firstOfEach(old.status?.reservedFor ?? [], ({ uid }) => uid);
  const isNew = (user: resource.ResourceClaimConsumerReference): boolean => !semanticEqual(before.get(user.uid), user);
  if (metadata.deletionTimestamp && status.reservedFor?.some(isNew))
    report.forbidden(at, 'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set');
}

function validateAllocation(report: Report, at: Path, allocation: resource.AllocationResult, names: RequestNames): void {
  const devices = at.child('devices');
  validateSlice(report, devices.child('results'), allocation.devices?.results, limits.resultsMax, (result, item) => {
    validateRequestRef(report, item.child('request'), result.request, names);
    validateDevice(report, item, result);
    validateBindingConditions(report, item, result);
    validateShare(report, item.child('shareID'), result.shareID);
  });
  // Both the class and the claim bring configurations.
  validateSlice(report, devices.child('config'), allocation.devices?.config, 2 * limits.configsMax, (config, item) => {
    report.oneOf(item.child('source'), config.source, ['FromClaim', 'FromClass']);
    validateRequestRefs(report, item.child('requests'), config.requests, names);
    validateConfiguration(report, item, config);
  });
  if (allocation.nodeSelector) validateNodeSelector(report, at.child('nodeSelector'), allocation.nodeSelector);
}

function validateDevice(report: Report, at: Path, { driver, pool, device }: DeviceRef): void {
  validateDriverName(report, at.child('driver'), driver);
  validatePoolName(report, at.child('pool'), pool);
  validateLabel(report, at.child('device'), device);
}

function validateShare(report: Report, at: Path, id: string | undefined): void {
  if (id === undefined) return;
  if (!uuid.test(id)) {
    const why = [36, 32, 38, 45].includes(id.length) ? 'invalid UUID format' : `invalid UUID length: ${id.length}`;
    report.invalid(at, id, `error validating uid: ${why}`);
  } else if (id !== id.toLowerCase()) report.invalid(at, id, uidForm);
}

function validateDeviceStatus(
  report: Report,
  at: Path,
  device: resource.AllocatedDeviceStatus,
  allocated: ReadonlySet<string>,
): void {
  validateDevice(report, at, device);
  validateShare(report, at.child('shareID'), device.shareID);
  const id = deviceID(device);
  if (!allocated.has(JSON.stringify(id))) report.invalid(at, id, 'must be an allocated device in the claim');
  const { data, networkData } = device;
  const conditions = device.conditions ?? [];
  const { statusConditionsMax } = limits;
  if (conditions.length > statusConditionsMax) report.tooMany(at.child('conditions'), conditions.length, statusConditionsMax);
  report.add(validateConditions(conditions as Partial<Condition>[], at.child('conditions')));
  if (data !== undefined && data !== null) validateRawObject(report, at.child('data'), data, limits.statusDataBytesMax);
  if (networkData) validateNetworkData(report, at.child('networkData'), networkData);
}

function validateNetworkData(report: Report, at: Path, data: resource.NetworkDeviceData): void {
  const { interfaceName = '', hardwareAddress = '', ips } = data;
  if (byteLength(interfaceName) > limits.interfaceNameBytesMax)
    report.tooLong(at.child('interfaceName'), limits.interfaceNameBytesMax);
  if (byteLength(hardwareAddress) > limits.hardwareAddressBytesMax)
    report.tooLong(at.child('hardwareAddress'), limits.hardwareAddressBytesMax);
  const rule = (ip: string, item: Path): void => report.add(validateInterfaceAddress(item, ip));
  validateSet(report, at.child('ips'), ips, limits.networkIPsMax, rule, (ip) => ip);
}
