// Webhook configurations, whose two kinds differ in one field (admissionregistration.k8s.io/v1; pkg/apis/admissionregistration/validation).
import type * as admission from '#api/admissionregistration/v1';
import { type Path, root } from '#apimachinery/field';
import type { KubeObject } from '#apimachinery/meta';
import { isDNS1035Label, validateFullyQualifiedName } from '#apimachinery/validation';
import { deepEqual, repeats } from '#utils';
import { selectorHasInvalidValue, validateLabelSelector } from '../../common/labels.ts';
import { age, column } from '../../common/printing.ts';
import { collect, isEmpty, type Report } from '../../common/report.ts';
import type { KindDefinition } from '../../kind.ts';
import { validateClientConfig } from './client-config.ts';
import { validateMatchConditions } from './expressions.ts';
import { defaultRule, failurePolicies, matchPolicies, nameWarnings, reinvocationPolicies, validateRule } from './rules.ts';

export type Webhook = admission.ValidatingWebhook & { reinvocationPolicy?: string };

export interface WebhookConfiguration extends KubeObject {
  webhooks?: Webhook[];
}

const timeoutSecondsMax = 30;
const reviewVersions = ['v1', 'v1beta1'];
const sideEffects = ['None', 'NoneOnDryRun', 'Some', 'Unknown'];
const harmless = ['None', 'NoneOnDryRun'];

/** What an old configuration had wrong may stay. */
interface WebhookRules {
  checkMatchConditions: boolean;
  requireNoSideEffects: boolean;
  requireKnownReviewVersion: boolean;
  requireUniqueNames: boolean;
  allowInvalidValues: boolean;
}

const strict: WebhookRules = {
  checkMatchConditions: true,
  requireNoSideEffects: true,
  requireKnownReviewVersion: true,
  requireUniqueNames: true,
  allowInvalidValues: false,
};

function rulesForUpdate(hooks: Webhook[], old: Webhook[]): WebhookRules {
  const sameConditions =
    hooks.length === old.length &&
    hooks.every(({ matchConditions }, index) => deepEqual(matchConditions ?? [], old[index]?.matchConditions ?? []));
  return {
    checkMatchConditions: !sameConditions,
    requireNoSideEffects: old.every((hook) => harmless.includes(hook.sideEffects ?? '')),
    requireKnownReviewVersion: old.every(
      ({ admissionReviewVersions: versions }) =>
        isEmpty(versions) || versions?.some((version) => reviewVersions.includes(version)),
    ),
    requireUniqueNames: new Set(old.map(({ name }) => name)).size === old.length,
    allowInvalidValues: old.some((hook) => [hook.namespaceSelector, hook.objectSelector].some(selectorHasInvalidValue)),
  };
}

function validateReviewVersions(report: Report, path: Path, versions: string[], rules: WebhookRules): void {
  if (versions.length === 0) return report.required(path, `must specify one of ${reviewVersions.join(', ')}`);
  const isRepeat = repeats();
  versions.forEach((version, index) => {
    if (isRepeat(version)) return report.invalid(path.index(index), version, 'duplicate version');
    report.problems(path.index(index), version, isDNS1035Label(version));
  });
  if (rules.requireKnownReviewVersion && !versions.some((version) => reviewVersions.includes(version)))
    report.invalid(path, versions, `must include at least one of ${reviewVersions.join(', ')}`);
}

function validateWebhook(report: Report, path: Path, hook: Webhook, rules: WebhookRules): void {
  report.add(validateFullyQualifiedName(path.child('name'), hook.name ?? ''));
  hook.rules?.forEach((rule, index) => validateRule(report, path.child('rules').index(index), rule));
  report.knownIfSet(path.child('failurePolicy'), hook.failurePolicy, failurePolicies);
  report.knownIfSet(path.child('matchPolicy'), hook.matchPolicy, matchPolicies);
  const allowed = rules.requireNoSideEffects ? harmless : sideEffects;
  if (hook.sideEffects === undefined || hook.sideEffects === null)
    report.required(path.child('sideEffects'), `must specify one of ${allowed.join(', ')}`);
  else report.known(path.child('sideEffects'), hook.sideEffects, allowed);
  const { timeoutSeconds: timeout } = hook;
  if (timeout !== undefined && (timeout < 1 || timeout > timeoutSecondsMax))
    report.invalid(path.child('timeoutSeconds'), timeout, 'the timeout value must be between 1 and 30 seconds');
  validateLabelSelector(report, path.child('namespaceSelector'), hook.namespaceSelector, rules.allowInvalidValues);
  validateLabelSelector(report, path.child('objectSelector'), hook.objectSelector, rules.allowInvalidValues);
  report.knownIfSet(path.child('reinvocationPolicy'), hook.reinvocationPolicy, reinvocationPolicies);
  validateClientConfig(report, path.child('clientConfig'), hook.clientConfig ?? {});
  if (rules.checkMatchConditions) validateMatchConditions(report, path.child('matchConditions'), hook.matchConditions, false);
}

function validateAll(report: Report, { webhooks = [] }: WebhookConfiguration, rules: WebhookRules): void {
  const isRepeat = repeats();
  webhooks.forEach((hook, index) => {
    const path = root('webhooks').index(index);
    validateWebhook(report, path, hook, rules);
    validateReviewVersions(report, path.child('admissionReviewVersions'), hook.admissionReviewVersions ?? [], rules);
    if (rules.requireUniqueNames && hook.name && isRepeat(hook.name)) report.duplicate(path.child('name'), hook.name);
  });
}

function hookDefaults(hook: Webhook, reinvocation: boolean): void {
  hook.failurePolicy ??= 'Fail';
  hook.matchPolicy ??= 'Equivalent';
  hook.namespaceSelector ??= {};
  hook.objectSelector ??= {};
  hook.timeoutSeconds ??= 10;
  if (reinvocation) hook.reinvocationPolicy ??= 'Never';
  if (hook.clientConfig?.service) hook.clientConfig.service.port ??= 443;
  hook.rules?.forEach(defaultRule);
}

/** The rules of both kinds; `reinvocation`: hooks that change objects may be called again. */
export function webhookConfigurationRules(
  reinvocation: boolean,
): Omit<KindDefinition<WebhookConfiguration>, 'group' | 'version' | 'kind'> {
  return {
    generation: ({ webhooks }) => webhooks ?? [],
    defaults: ({ webhooks }) => webhooks?.forEach((hook) => hookDefaults(hook, reinvocation)),
    validate: (object) => collect((report) => validateAll(report, object, strict)),
    validateUpdate: (object, old) =>
      collect((report) => validateAll(report, object, rulesForUpdate(object.webhooks ?? [], old.webhooks ?? []))),
    warnings: nameWarnings,
    allowUnconditionalUpdate: false,
    printer: {
      columns: [column('Name', { name: true }), column('Webhooks', { type: 'integer' }), column('Age')],
      cells: ({ metadata, webhooks }, now) => [metadata.name ?? '', webhooks?.length ?? 0, age(metadata, now)],
    },
  };
}
