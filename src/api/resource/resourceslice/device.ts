// One device of a slice (pkg/apis/resource/validation, validateDevice).
import type * as resource from '#api/resource/v1';
import type { Path } from '#apimachinery/field';
import { byteLength, dns1123LabelMaxLength, isDNS1123Subdomain } from '#apimachinery/validation';
import {} from '#utils';
import { semanticEqual } from '../../common/equality.ts';
import { internalForm } from '../../common/internal-form.ts';
import { isEmptyMap, type Report } from '../../common/report.ts';
import { isPositive } from '../../common/quantities.ts';
import { isNativeResource } from '../../core/common/resource-names.ts';
import { validateNodeSelector } from '../../core/pod/validation/affinity.ts';
import { validateBindingConditions, validateTaint } from '../common/devices.ts';
import { limits } from '../common/limits.ts';
import { validateMap, validateSet, validateSlice } from '../common/lists.ts';
import { qualifiedNameBytesMax, validateLabel, validateQualifiedName } from '../common/names.ts';
import { validateCapacity } from './capacity.ts';

const numeric = '(0|[1-9]\\d*)';
const preRelease = '(0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)';
const build = '[0-9a-zA-Z-]+';
const semanticVersion = new RegExp(
  `^${numeric}\\.${numeric}\\.${numeric}(-${preRelease}(\\.${preRelease})*)?(\\+${build}(\\.${build})*)?$`,
);
export function validateDevice(
  report: Report,
  path: Path,
  device: resource.Device,
  old: resource.Device | undefined,
  perDevice: boolean,
): void {
  validateLabel(report, path.child('name'), device.name);
  validateCounts(report, path, device);
  const names = { keyBytesMax: qualifiedNameBytesMax, key: (key: string, at: Path) => validateQualifiedName(report, at, key) };
  validateMap(report, path.child('attributes'), device.attributes, {
    ...names,
    item: (attribute, at) => validateAttribute(report, at, attribute),
  });
  const isShared = device.allowMultipleAllocations === true;
  validateMap(report, path.child('capacity'), device.capacity, {
    ...names,
    item: (capacity, at) => validateCapacity(report, at, capacity, isShared),
  });
  if (!old || !semanticEqual(old.taints, device.taints))
    validateSlice(report, path.child('taints'), device.taints, limits.taintsMax, (taint, at) => validateTaint(report, at, taint));
  const consumption = (one: resource.DeviceCounterConsumption, at: Path): void => {
    validateCounterSetName(report, at.child('counterSet'), one.counterSet);
    validateCounters(report, at.child('counters'), one.counters);
  };
  const { counterConsumptionsMax } = limits;
  validateSet(
    report,
    path.child('consumesCounters'),
    device.consumesCounters,
    counterConsumptionsMax,
    consumption,
    ({ counterSet }) => counterSet,
  );
  if (perDevice) validateNodeOfDevice(report, path, device);
  else if (device.nodeName !== undefined || device.nodeSelector || device.allNodes !== undefined) {
    const detail =
      '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec';
    report.invalid(path, null, detail);
  }
  validateBindingConditions(report, path, device);
  validateMappings(report, path.child('nodeAllocatableResourceMappings'), device);
}

function validateCounts(report: Report, path: Path, { attributes = {}, capacity = {} }: resource.Device): void {
  const entries = Object.keys(attributes).length + Object.keys(capacity).length;
  const { attributesAndCapacitiesMax: entriesMax, attributeValuesMax: valuesMax } = limits;
  if (entries > entriesMax)
    report.invalid(path, entries, `the total number of attributes and capacities must not exceed ${entriesMax}`);
  const values = Object.values(attributes).reduce((sum, { bools = [], ints = [], strings = [], versions = [] }) => {
    return sum + (bools.length + ints.length + strings.length + versions.length || 1);
  }, 0);
  if (values > valuesMax) report.invalid(path, values, `the total number of attribute values must not exceed ${valuesMax}`);
}

function validateAttribute(report: Report, path: Path, attribute: resource.DeviceAttribute): void {
  const { string, version } = attribute;
  if (string !== undefined) validateText(report, path.child('string'), string);
  if (version !== undefined) validateVersion(report, path.child('version'), version);
  for (const name of ['bools', 'ints', 'strings', 'versions'] as const)
    if (attribute[name]?.length === 0) report.invalid(path.child(name), [], 'must not be empty if specified');
  attribute.strings?.forEach((text, index) => validateText(report, path.child('strings').index(index), text));
  attribute.versions?.forEach((text, index) => validateVersion(report, path.child('versions').index(index), text));
  const set = Object.keys(attribute).length;
  if (set === 1) return;
  const shown = set === 0 ? '' : internalForm('resource.DeviceAttribute', attribute);
  report.invalid(path, shown, 'exactly one value must be specified');
}

function validateText(report: Report, path: Path, text: string): void {
  if (byteLength(text) > limits.attributeValueBytesMax) report.tooLong(path, limits.attributeValueBytesMax);
}

function validateVersion(report: Report, path: Path, text: string): void {
  if (!semanticVersion.test(text)) report.invalid(path, text, 'must be a string compatible with semver.org spec 2.0.0');
  validateText(report, path, text);
}

export function validateCounterSetName(report: Report, path: Path, name: string | undefined): void {
  if (!name) report.required(path);
  else validateLabel(report, path, name);
}

export function validateCounters(report: Report, path: Path, counters: Record<string, resource.Counter> | undefined): void {
  if (isEmptyMap(counters)) return report.required(path);
  validateMap(report, path, counters, {
    max: limits.countersMax,
    keyBytesMax: dns1123LabelMaxLength,
    key: (key, at) => validateLabel(report, at, key),
  });
}

function validateNodeOfDevice(report: Report, path: Path, device: resource.Device): void {
  const { nodeName, nodeSelector, allNodes } = device;
  const set: string[] = [];
  if (nodeName) {
    set.push('`nodeName`');
    report.problems(path.child('nodeName'), nodeName, isDNS1123Subdomain(nodeName));
  } else if (nodeName === '') report.invalid(path.child('nodeName'), nodeName, 'must not be empty');
  if (nodeSelector) {
    set.push('`nodeSelector`');
    validateNodeSelector(report, path.child('nodeSelector'), nodeSelector);
  }
  if (allNodes) set.push('`allNodes`');
  else if (allNodes === false) report.invalid(path.child('allNodes'), allNodes, 'must be either unset or set to true');
  const detail =
    'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec';
  if (set.length === 0) report.required(path, detail);
  else if (set.length > 1) report.invalid(path, `{${set.join(', ')}}`, detail);
}

function validateMappings(report: Report, path: Path, device: resource.Device): void {
  for (const [name, { allocationMultiplier: multiplier, capacityKey }] of Object.entries(
    device.nodeAllocatableResourceMappings ?? {},
  )) {
    const at = path.key(name);
    if (!isNativeResource(name)) report.invalid(at, name, 'must be a node allocatable resource name');
    if (multiplier === undefined && capacityKey === undefined)
      report.invalid(at, '', 'at least one of allocationMultiplier or capacityKey must be set');
    if (multiplier !== undefined && !isPositive(multiplier))
      report.invalid(at.child('allocationMultiplier'), multiplier, 'must be positive');
    if (capacityKey === '') report.invalid(at.child('capacityKey'), '', 'capacityKey must not be an empty string');
    else if (capacityKey !== undefined && !Object.hasOwn(device.capacity ?? {}, capacityKey))
      report.notFound(at.child('capacityKey'), capacityKey);
  }
}
