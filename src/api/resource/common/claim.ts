// What a claim asks for (pkg/apis/resource/validation, validateResourceClaimSpec).
import type * as resource from '#api/resource/v1';
import type { Path } from '#apimachinery/field';
import { isEmpty, type Report } from '../../common/report.ts';
import { validateConfiguration, validateSelectors, validateToleration } from './devices.ts';
import { limits } from './limits.ts';
import { validateSet, validateSlice } from './lists.ts';
import { validateClassName, validateFullyQualifiedName, validateLabel } from './names.ts';

const itself = <T>(item: T): T => item;
const noSuchRequest = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";

/** Names of requests, and of the alternatives of each. */
export type RequestNames = ReadonlyMap<string, ReadonlySet<string>>;

export const requestNamesOf = ({ requests }: resource.DeviceClaim = {}): RequestNames =>
  new Map((requests ?? []).map(({ name, firstAvailable }) => [name, new Set(firstAvailable?.map((one) => one.name))]));

export function claimDefaults({ devices }: resource.ResourceClaimSpec = {}): void {
  for (const { exactly, firstAvailable } of devices?.requests ?? [])
    for (const request of [...(exactly ? [exactly] : []), ...(firstAvailable ?? [])]) {
      request.allocationMode ||= 'ExactCount';
      if (request.allocationMode === 'ExactCount') request.count ||= 1;
    }
}

export function validateClaimSpec(report: Report, path: Path, { devices = {} }: resource.ResourceClaimSpec): void {
  const names = requestNamesOf(devices);
  const at = path.child('devices');
  const requestRule = (request: resource.DeviceRequest, item: Path): void => validateRequest(report, item, request);
  validateSet(report, at.child('requests'), devices.requests ?? [], limits.requestsMax, requestRule, ({ name }) => name);
  validateSlice(report, at.child('constraints'), devices.constraints, limits.constraintsMax, (constraint, item) =>
    validateConstraint(report, item, constraint, names),
  );
  validateSlice(report, at.child('config'), devices.config, limits.configsMax, (config, item) => {
    validateRequestRefs(report, item.child('requests'), config.requests, names);
    validateConfiguration(report, item, config);
  });
}

function validateRequest(report: Report, path: Path, request: resource.DeviceRequest): void {
  validateLabel(report, path.child('name'), request.name);
  const { exactly, firstAvailable } = request;
  const hasAlternatives = !isEmpty(firstAvailable);
  if (!exactly && !hasAlternatives) return report.required(path, 'exactly one of `exactly` or `firstAvailable` is required');
  if (exactly && hasAlternatives) {
    const detail = 'exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set';
    return report.invalid(path, null, detail);
  }
  if (exactly) return validateDevices(report, path.child('exactly'), exactly);
  const rule = (one: resource.DeviceSubRequest, at: Path): void => {
    validateLabel(report, at.child('name'), one.name);
    validateDevices(report, at, one);
  };
  validateSet(report, path.child('firstAvailable'), firstAvailable, limits.firstAvailableMax, rule, ({ name }) => name);
}

function validateDevices(report: Report, path: Path, request: resource.ExactDeviceRequest): void {
  validateClassName(report, path.child('deviceClassName'), request.deviceClassName);
  validateSelectors(report, path.child('selectors'), request.selectors);
  const { allocationMode: mode = '', count = 0 } = request;
  if (mode === 'All') {
    if (count !== 0) report.invalid(path.child('count'), count, `must not be specified when allocationMode is '${mode}'`);
  } else if (mode === 'ExactCount') {
    if (count <= 0) report.invalid(path.child('count'), count, 'must be greater than zero');
  } else report.notSupported(path.child('allocationMode'), mode, ['All', 'ExactCount']);
  request.tolerations?.forEach((one, index) => validateToleration(report, path.child('tolerations').index(index), one));
}

function validateConstraint(report: Report, path: Path, constraint: resource.DeviceConstraint, names: RequestNames): void {
  validateRequestRefs(report, path.child('requests'), constraint.requests, names);
  const { matchAttribute, distinctAttribute } = constraint;
  if (matchAttribute !== undefined) validateFullyQualifiedName(report, path.child('matchAttribute'), matchAttribute);
  else if (distinctAttribute !== undefined)
    validateFullyQualifiedName(report, path.child('distinctAttribute'), distinctAttribute);
  else report.required(path, 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set');
}

export function validateRequestRefs(report: Report, path: Path, refs: string[] | undefined, names: RequestNames): void {
  validateSet(report, path, refs, limits.requestsMax, (ref, at) => validateRequestRef(report, at, ref, names), itself);
}

export function validateRequestRef(report: Report, path: Path, ref: string, names: RequestNames): void {
  const segments = ref.split('/');
  if (segments.length > 2) return report.invalid(path, ref, noSuchRequest);
  for (const segment of segments) validateLabel(report, path, segment);
  const [request = '', alternative] = segments;
  const alternatives = names.get(request);
  if (!alternatives || (alternative !== undefined && !alternatives.has(alternative))) report.invalid(path, ref, noSuchRequest);
}
