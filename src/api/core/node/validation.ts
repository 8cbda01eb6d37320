// Rules of nodes (pkg/apis/core/validation, ValidateNode and ValidateNodeUpdate).
import type * as core from '#api/core/v1';
import { type FieldError, internal, type Path, root } from '#apimachinery/field';
import { byteLength, isConfigMapKey, isDNS1123Label, isDNS1123Subdomain, isLabelValue } from '#apimachinery/validation';
import { quote } from '#utils';
import { isDualStack, prefixFamilyOf, validateLegacyCIDR } from '../../common/ip.ts';
import { validateLabelName } from '../../common/labels.ts';
import { positive } from '../../common/numbers.ts';
import { collect, isEmpty, type Report } from '../../common/report.ts';
import { validateResourceQuantity } from '../common/resources.ts';
import { taintEffects } from '../pod/validation/tolerations.ts';

const metadataPath = root('metadata');
const podCIDRsPath = root('spec', 'podCIDRs');
const featureGrammar = /^[A-Z][a-zA-Z0-9]*(\/[a-zA-Z][a-zA-Z0-9]*)*$/;

function validateTaints(report: Report, path: Path, taints: core.Taint[] | undefined): void {
  const seen = new Set<string>();
  taints?.forEach((taint, index) => {
    const at = path.index(index);
    validateLabelName(report, at.child('key'), taint.key);
    const problems = isLabelValue(taint.value ?? '');
    if (problems.length > 0) report.invalid(at.child('value'), taint.value, problems.join(';'));
    report.oneOf(at.child('effect'), taint.effect, taintEffects);
    const pair = `${taint.effect} ${taint.key}`;
    if (seen.has(pair)) {
      const shown = { Key: taint.key, Value: taint.value ?? '', Effect: taint.effect, TimeAdded: taint.timeAdded ?? null };
      report.add([
        {
          type: 'FieldValueDuplicate',
          field: at.toString(),
          badValue: shown,
          detail: 'taints must be unique by key and effect pair',
        },
      ]);
    }
    seen.add(pair);
  });
}

function validateResources(report: Report, { status }: core.Node): void {
  for (const list of ['capacity', 'allocatable'] as const) {
    for (const [name, amount] of Object.entries(status?.[list] ?? {}))
      validateResourceQuantity(report, root('status', list, name), name, amount);
  }
}

function featureProblem(name: string): string | undefined {
  if (byteLength(name) > 253) return `invalid feature name ${quote(name)}: must be no more than 253 characters`;
  if (featureGrammar.test(name)) return undefined;
  const rule =
    "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes";
  return `invalid feature name ${quote(name)}: ${rule}`;
}

function validateFeatures(report: Report, { status }: core.Node): void {
  const path = root('status', 'declaredFeatures');
  const features = status?.declaredFeatures ?? [];
  features.forEach((feature, index) => {
    const problem = featureProblem(feature);
    if (problem !== undefined) report.invalid(path.index(index), feature, problem);
    const next = features[index + 1];
    if (next === feature) report.duplicate(path.index(index + 1), next);
    else if (next !== undefined && feature > next)
      report.invalid(path.index(index + 1), next, 'list must be sorted alphabetically');
  });
}

function validateNode(report: Report, node: core.Node): void {
  const { spec, status } = node;
  validateTaints(report, metadataPath.child('taints'), spec?.taints);
  validateResources(report, node);
  const swap = status?.nodeInfo?.swap?.capacity;
  if (swap !== undefined) positive(report, metadataPath.child('nodeSwapStatus', 'capacity'), swap);
  validateFeatures(report, node);
  const cidrs = spec?.podCIDRs ?? [];
  cidrs.forEach((cidr, index) => validateLegacyCIDR(report, podCIDRsPath.index(index), cidr));
  if (cidrs.length < 2) return;
  const bad = cidrs.findIndex((cidr) => prefixFamilyOf(cidr) === undefined);
  if (bad >= 0) {
    const problem = `invalid CIDR[${bad}]: <nil> (invalid CIDR address: ${cidrs[bad]})`;
    report.add([internal(podCIDRsPath, `invalid PodCIDRs. failed to check with dual stack with error:${problem}`)]);
  }
  if (cidrs.length > 2 || !isDualStack(cidrs.map(prefixFamilyOf))) {
    report.invalid(podCIDRsPath, cidrs, 'may specify no more than one CIDR for each IP family');
  }
}

export const validateNodeCreate = (node: core.Node): FieldError[] => collect((report) => validateNode(report, node));

/** Rules of every change, also of the status. */
function validateChange(report: Report, node: core.Node, old: core.Node): void {
  const { spec, status } = node;
  validateResources(report, node);
  validateFeatures(report, node);
  const addresses = new Set<string>();
  status?.addresses?.forEach(({ type, address }, index) => {
    const key = JSON.stringify([type, address]);
    if (addresses.has(key)) report.duplicate(root('status', 'addresses').index(index), { Type: type, Address: address });
    addresses.add(key);
  });
  const before = old.spec?.podCIDRs ?? [];
  const now = spec?.podCIDRs ?? [];
  const cidrs = 'node updates may not change podCIDR except from "" to valid';
  if (before.length > 0 && before.length !== now.length) report.forbidden(podCIDRsPath, cidrs);
  else before.forEach((cidr, index) => (cidr === now[index] ? undefined : report.forbidden(podCIDRsPath, cidrs)));
  if (old.spec?.providerID && old.spec.providerID !== spec?.providerID) {
    report.forbidden(root('spec', 'providerID'), 'node updates may not change providerID except from "" to valid');
  }
  if (spec?.configSource) validateConfigSource(report, root('spec', 'configSource'), spec.configSource, false);
  for (const name of ['assigned', 'active', 'lastKnownGood'] as const) {
    const source = status?.config?.[name];
    if (source) validateConfigSource(report, root('status', 'config', name), source, true);
  }
  validateTaints(report, metadataPath.child('taints'), spec?.taints);
  if ((spec?.externalID ?? '') !== (old.spec?.externalID ?? ''))
    report.forbidden(root('spec', 'externalID'), 'may not be updated');
}

function validateConfigSource(report: Report, path: Path, { configMap }: core.NodeConfigSource, inStatus: boolean): void {
  if (!configMap) return report.invalid(path, { ConfigMap: null }, 'exactly one reference subfield must be non-nil');
  const at = path.child('configMap');
  if (inStatus) report.need(at, configMap, 'uid', 'resourceVersion');
  else {
    if (configMap.uid) report.forbidden(at.child('uid'), 'uid must not be set in spec');
    if (configMap.resourceVersion) report.forbidden(at.child('resourceVersion'), 'resourceVersion must not be set in spec');
  }
  const { namespace, name, kubeletConfigKey: key } = configMap;
  if (isEmpty(namespace)) report.required(at.child('namespace'));
  else report.problems(at.child('namespace'), namespace, isDNS1123Label(namespace));
  if (isEmpty(name)) report.required(at.child('name'));
  else report.problems(at.child('name'), name, isDNS1123Subdomain(name));
  if (isEmpty(key)) report.required(at.child('kubeletConfigKey'));
  else report.problems(at.child('kubeletConfigKey'), key, isConfigMapKey(key));
}

export const validateNodeUpdate = (node: core.Node, old: core.Node): FieldError[] =>
  collect((report) => {
    validateNode(report, node);
    validateChange(report, node, old);
  });

export const validateNodeStatusUpdate = (node: core.Node, old: core.Node): FieldError[] =>
  collect((report) => validateChange(report, node, old));
