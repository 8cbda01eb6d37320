// Rules of a container's environment (pkg/apis/core/validation, ValidateEnv and ValidateEnvFrom).
import type * as core from '#api/core/v1';
import type { Path } from '#apimachinery/field';
import {
  isConfigMapKey,
  isDNS1123Label,
  isDNS1123Subdomain,
  isRelaxedEnvVarName,
  nameIsDNSSubdomain,
} from '#apimachinery/validation';
import { isEmpty, type Report } from '../../../common/report.ts';
import { validatePathNoBacksteps } from '../../common/paths.ts';

import { validateEnvFieldRef, validateResourceFieldRef } from './downward-api.ts';

export function validateEnv(report: Report, path: Path, variables: core.EnvVar[] | undefined): void {
  variables?.forEach((variable, index) => {
    const at = path.index(index);
    if (isEmpty(variable.name)) report.required(at.child('name'));
    else report.problems(at.child('name'), variable.name, isRelaxedEnvVarName(variable.name));
    if (variable.valueFrom) validateSource(report, at.child('valueFrom'), variable.valueFrom, variable.value);
  });
}

function validateSource(report: Report, path: Path, source: core.EnvVarSource, value: string | undefined): void {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = source;
  if (fieldRef) validateEnvFieldRef(report, path.child('fieldRef'), fieldRef);
  if (resourceFieldRef) validateResourceFieldRef(report, path.child('resourceFieldRef'), resourceFieldRef, false);
  if (configMapKeyRef) validateKeyRef(report, path.child('configMapKeyRef'), configMapKeyRef);
  if (secretKeyRef) validateKeyRef(report, path.child('secretKeyRef'), secretKeyRef);
  if (fileKeyRef) validateFileKeyRef(report, path.child('fileKeyRef'), fileKeyRef);
  const count = [fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef].filter(Boolean).length;
  if (count === 0) {
    report.invalid(
      path,
      '',
      'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
    );
  } else if (value) report.invalid(path, '', 'may not be specified when `value` is not empty');
  else if (count > 1) report.invalid(path, '', 'may not have more than one field specified at a time');
}

function validateKeyRef(report: Report, path: Path, ref: { name?: string; key: string }): void {
  report.problems(path.child('name'), ref.name ?? '', isDNS1123Subdomain(ref.name ?? ''));
  if (isEmpty(ref.key)) report.required(path.child('key'));
  else report.problems(path.child('key'), ref.key, isConfigMapKey(ref.key));
}

function validateFileKeyRef(report: Report, path: Path, ref: core.FileKeySelector): void {
  if (isEmpty(ref.key)) report.required(path.child('key'));
  else report.problems(path.child('key'), ref.key, isRelaxedEnvVarName(ref.key));
  if (isEmpty(ref.volumeName)) report.required(path.child('volumeName'));
  else report.problems(path.child('volumeName'), ref.volumeName, isDNS1123Label(ref.volumeName));
  if (isEmpty(ref.path)) report.required(path.child('path'));
  else validatePathNoBacksteps(report, path.child('path'), ref.path);
}

export function validateEnvFrom(report: Report, path: Path, sources: core.EnvFromSource[] | undefined): void {
  sources?.forEach(({ prefix, configMapRef, secretRef }, index) => {
    const at = path.index(index);
    if (prefix) report.problems(at.child('prefix'), prefix, isRelaxedEnvVarName(prefix));
    if (configMapRef) validateNameRef(report, at.child('configMapRef', 'name'), configMapRef.name);
    if (secretRef) validateNameRef(report, at.child('secretRef', 'name'), secretRef.name);
    if (!configMapRef && !secretRef) report.invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`');
    else if (configMapRef && secretRef) report.invalid(path, '', 'may not have more than one field specified at a time');
  });
}

// Upstream reads these names as prefixes, so one trailing dash is let through.
function validateNameRef(report: Report, path: Path, name: string | undefined): void {
  if (isEmpty(name)) report.required(path);
  else report.problems(path, name, nameIsDNSSubdomain(name ?? '', true));
}
