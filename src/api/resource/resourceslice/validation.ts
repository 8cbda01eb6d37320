// Rules of slices (pkg/apis/resource/validation, validateResourceSliceSpec).
import type * as resource from '#api/resource/v1';
import { type Path, root } from '#apimachinery/field';
import { isDNS1123Subdomain } from '#apimachinery/validation';
import { immutable } from '../../common/immutable.ts';
import { internalForm } from '../../common/internal-form.ts';
import { isEmpty, type Report } from '../../common/report.ts';
import { validateNodeSelector } from '../../core/pod/validation/affinity.ts';
import { limits } from '../common/limits.ts';
import { validateSet } from '../common/lists.ts';
import { validateDriverName, validatePoolName } from '../common/names.ts';
import { validateCounters, validateCounterSetName, validateDevice } from './device.ts';

const path = root('spec');
const oneOf = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required';

export function validateSlice(report: Report, spec: resource.ResourceSliceSpec, old?: resource.ResourceSliceSpec): void {
  validateDriverName(report, path.child('driver'), spec.driver);
  validatePool(report, path.child('pool'), spec.pool ?? {});
  if (old) {
    immutable(report, path.child('pool', 'name'), spec.pool.name, old.pool.name);
    immutable(report, path.child('driver'), spec.driver, old.driver);
    immutable(report, path.child('nodeName'), spec.nodeName, old.nodeName);
  }
  validateNodes(report, spec);
  if (spec.sharedCounters && spec.devices) report.invalid(path, '', 'only one of `sharedCounters` or `devices` is allowed');
  validateDevices(report, spec, old);
  const counterSet = ({ name, counters }: resource.CounterSet, at: Path): void => {
    validateCounterSetName(report, at.child('name'), name);
    validateCounters(report, at.child('counters'), counters);
  };
  validateSet(report, path.child('sharedCounters'), spec.sharedCounters, limits.counterSetsMax, counterSet, ({ name }) => name);
}

function validatePool(
  report: Report,
  at: Path,
  { name, resourceSliceCount = 0, generation = 0 }: Partial<resource.ResourcePool>,
): void {
  validatePoolName(report, at.child('name'), name);
  if (resourceSliceCount <= 0) report.invalid(at.child('resourceSliceCount'), resourceSliceCount, 'must be greater than zero');
  if (generation < 0) report.invalid(at.child('generation'), generation, 'must be greater than or equal to zero');
}

/** Devices with taints, counters or lists of values cost more, so there may be fewer of them. */
const isAdvanced = ({ taints, consumesCounters, attributes = {} }: resource.Device): boolean =>
  !isEmpty(taints) ||
  !isEmpty(consumesCounters) ||
  Object.values(attributes).some(({ bools, ints, strings, versions }) => bools ?? ints ?? strings ?? versions);

function validateDevices(report: Report, spec: resource.ResourceSliceSpec, old: resource.ResourceSliceSpec | undefined): void {
  const { devices, perDeviceNodeSelection = false } = spec;
  const before = new Map((old?.devices ?? []).map((device) => [device.name, device]));
  const max = devices?.some(isAdvanced) ? limits.devicesWithAdvancedFeaturesMax : limits.devicesMax;
  const rule = (device: resource.Device, at: Path): void =>
    validateDevice(report, at, device, before.get(device.name), perDeviceNodeSelection);
  validateSet(report, path.child('devices'), devices, max, rule, ({ name }) => name);
}

function validateNodes(report: Report, spec: resource.ResourceSliceSpec): void {
  const set: string[] = [];
  const { nodeName, nodeSelector } = spec;
  if (nodeName) {
    set.push('`nodeName`');
    report.problems(path.child('nodeName'), nodeName, isDNS1123Subdomain(nodeName));
  } else if (nodeName === '')
    report.invalid(path.child('nodeName'), nodeName, 'must be either unset or set to a non-empty string');
  if (nodeSelector) {
    set.push('`nodeSelector`');
    const at = path.child('nodeSelector');
    validateNodeSelector(report, at, nodeSelector);
    const terms = nodeSelector.nodeSelectorTerms ?? [];
    const shown = terms.length === 0 ? null : terms.map((term) => internalForm('core.NodeSelectorTerm', term));
    if (terms.length !== 1) report.invalid(at.child('nodeSelectorTerms'), shown, 'must have exactly one node selector term');
  }
  for (const name of ['allNodes', 'perDeviceNodeSelection'] as const) {
    if (spec[name]) set.push(`\`${name}\``);
    else if (spec[name] === false) report.invalid(path.child(name), false, 'must be either unset or set to true');
  }
  if (set.length === 0) report.required(path, oneOf);
  else if (set.length > 1) report.invalid(path, `{${set.join(', ')}}`, `${oneOf}, but multiple fields are set`);
}
