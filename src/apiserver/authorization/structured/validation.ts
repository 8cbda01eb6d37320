// What may stand in an AuthorizationConfiguration (k8s.io/apiserver/pkg/apis/apiserver/validation). Files it names are looked at when they are
// read. Pure.
import { duplicate, type FieldError, invalid, notSupported, type Path, required, root, tooMany } from '#apimachinery/field';
import { formatDurationMs } from '#apimachinery/duration';
import { isDNS1123Subdomain } from '#apimachinery/validation';
import { compileAccessReviewCondition, isProgram } from '#cel';
import { matchConditionsMax } from '../limits.ts';
import type { AuthorizerConfiguration, WebhookConfiguration } from './configuration.ts';

export function authorizationErrors(authorizers: readonly AuthorizerConfiguration[], types: readonly string[]): FieldError[] {
  const top = root('authorizers');
  if (authorizers.length === 0) return [required(top, 'at least one authorization mode must be defined')];
  const [seenTypes, seenNames] = [new Set<string>(), new Set<string>()];
  return authorizers.flatMap(({ type, name, webhook }, index) => {
    const path = top.index(index);
    if (type === '') return [required(path.child('type'))];
    if (!types.includes(type)) return [notSupported(path.child('type'), type, types)];
    if (seenTypes.has(type) && type !== 'Webhook') return [duplicate(path.child('type'), type)];
    seenTypes.add(type);
    const errors = nameErrors(name, path.child('name'), seenNames);
    seenNames.add(name);
    if (type === 'Webhook')
      return [
        ...errors,
        ...(webhook ? webhookErrors(webhook, path) : [required(path.child('webhook'), 'required when type=Webhook')]),
      ];
    return webhook ? [...errors, invalid(path.child('webhook'), 'non-null', 'may only be specified when type=Webhook')] : errors;
  });
}

function nameErrors(name: string, path: Path, seen: ReadonlySet<string>): FieldError[] {
  if (name === '') return [required(path)];
  if (seen.has(name)) return [duplicate(path, name)];
  const problems = isDNS1123Subdomain(name);
  return problems.length > 0 ? [invalid(path, name, `authorizer name is invalid: ${problems.join(', ')}`)] : [];
}

/** Upstream names these fields beside the authorizer, not below its webhook. */
function webhookErrors(webhook: WebhookConfiguration, path: Path): FieldError[] {
  const { timeout = 0, authorizedTTL = 0, unauthorizedTTL = 0, failurePolicy = '' } = webhook;
  const errors: FieldError[] = [];
  if (timeout === 0) errors.push(required(path.child('timeout')));
  else if (timeout > 30_000 || timeout < 0)
    errors.push(invalid(path.child('timeout'), formatDurationMs(timeout), 'must be > 0s and <= 30s'));
  if (authorizedTTL < 0) errors.push(invalid(path.child('authorizedTTL'), formatDurationMs(authorizedTTL), 'must be > 0s'));
  if (unauthorizedTTL < 0) errors.push(invalid(path.child('unauthorizedTTL'), formatDurationMs(unauthorizedTTL), 'must be > 0s'));
  errors.push(...oneOf(webhook.subjectAccessReviewVersion, path.child('subjectAccessReviewVersion'), ['v1', 'v1beta1']));
  const version = webhook.matchConditionSubjectAccessReviewVersion ?? '';
  const versionPath = path.child('matchConditionSubjectAccessReviewVersion');
  if (version === '') {
    if ((webhook.matchConditions?.length ?? 0) > 0)
      errors.push(required(versionPath, 'required if match conditions are specified'));
  } else errors.push(...oneOf(version, versionPath, ['v1']));
  errors.push(...oneOf(failurePolicy, path.child('failurePolicy'), ['NoOpinion', 'Deny']));
  return [...errors, ...connectionErrors(webhook, path.child('connectionInfo')), ...conditionErrors(webhook, path)];
}

function oneOf(value: string | undefined, path: Path, words: readonly string[]): FieldError[] {
  if (value === undefined || value === '') return [required(path)];
  return words.includes(value) ? [] : [notSupported(path, value, words)];
}

function connectionErrors({ connectionInfo = {} }: WebhookConfiguration, path: Path): FieldError[] {
  const { type = '', kubeConfigFile: file } = connectionInfo;
  const at = path.child('kubeConfigFile');
  if (type === 'InClusterConfig')
    return file === undefined ? [] : [invalid(at, file, 'can only be set when type=KubeConfigFile')];
  if (type !== 'KubeConfigFile') return oneOf(type, path.child('type'), ['InClusterConfig', 'KubeConfigFile']);
  if (!file) return [required(at)];
  return file.startsWith('/') ? [] : [invalid(at, file, 'must be an absolute path')];
}

function conditionErrors({ matchConditions = [] }: WebhookConfiguration, path: Path): FieldError[] {
  const top = path.child('matchConditions');
  if (matchConditions.length > matchConditionsMax) return [tooMany(top, matchConditions.length, matchConditionsMax)];
  const seen = new Set<string>();
  return matchConditions.flatMap(({ expression = '' }, index) => {
    const at = top.index(index).child('expression');
    if (expression.trim() === '') return [required(at)];
    if (seen.has(expression)) return [duplicate(at, expression)];
    seen.add(expression);
    const compiled = compileAccessReviewCondition(expression);
    return isProgram(compiled) ? [] : [invalid(at, expression, compiled.problem)];
  });
}
