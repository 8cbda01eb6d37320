// What all kinds with a pod template share: selector and template fit each other, pods are restarted, names and images in columns
// (pkg/apis/apps/validation; pkg/printers/internalversion).
import type { PodTemplateSpec } from '#api/core/v1';
import { type Path, root } from '#apimachinery/field';
import { fromLabelSelector, type LabelSelector, type Selector } from '#apimachinery/labels';
import type { KubeObject } from '#apimachinery/meta';
import { isDNS1123Label } from '#apimachinery/validation';
import { isEmptySelector, type SelectorShape, sortedByKey, validateLabelSelector } from '../../common/labels.ts';
import { age, column, wideColumns } from '../../common/printing.ts';
import type { Report } from '../../common/report.ts';
import { ownStatus } from '../../common/strategy.ts';
import { dropDisabledPodFields } from './drop.ts';
import { validatePodTemplateSpec } from './validation/spec.ts';
import { podTemplateWarnings } from './warnings.ts';
import type { KindContext, Printer, ScaleMapping } from '../../kind.ts';

export const templatePath: Path = root('spec', 'template');
const mismatch = '`selector` does not match template `labels`';

/** The selector as a function; undefined when it is not a valid selector. An absent one selects nothing. */
export function compiled(selector: SelectorShape | undefined): Selector | undefined {
  try {
    return fromLabelSelector(selector as LabelSelector | undefined);
  } catch {
    return undefined;
  }
}

/** A selector must be there and say something. `kind`: as upstream's message has it. */
export function validateRequiredSelector(report: Report, path: Path, selector: SelectorShape | undefined, kind: string): void {
  if (!selector) return report.required(path);
  validateLabelSelector(report, path, selector);
  if (isEmptySelector(selector)) report.invalid(path, selector, `empty selector is invalid for ${kind}`);
}

export function validateSelectorMatches(
  report: Report,
  path: Path,
  selector: Selector,
  template: PodTemplateSpec,
  evenEmpty = false,
): void {
  const labels = template.metadata?.labels;
  if ((evenEmpty || !selector.empty) && !selector.matches(labels))
    report.invalid(path.child('metadata', 'labels'), labels === undefined ? null : sortedByKey(labels), mismatch);
}

/** Requires pods that are always restarted and have no deadline, as those of long-running kinds are. */
export function validateAlwaysRunning(report: Report, path: Path, { spec }: PodTemplateSpec, kind: string): void {
  if (spec?.restartPolicy !== 'Always')
    report.notSupported(path.child('spec', 'restartPolicy'), spec?.restartPolicy ?? '', ['Always']);
  if (spec?.activeDeadlineSeconds !== undefined) {
    report.forbidden(path.child('spec', 'activeDeadlineSeconds'), `activeDeadlineSeconds in ${kind} is not Supported`);
  }
}

/** Template of a ReplicaSet or Deployment (upstream calls both a ReplicaSet here). */
export function validateReplicaTemplate(
  report: Report,
  selector: Selector,
  template: PodTemplateSpec,
  context: KindContext,
  old: PodTemplateSpec | undefined,
): void {
  validateSelectorMatches(report, templatePath, selector, template);
  validatePodTemplateSpec(report, templatePath, template, context, old);
  validateAlwaysRunning(report, templatePath, template, 'ReplicaSet');
}

export function dropDisabledTemplateFields(template: PodTemplateSpec | undefined, old?: PodTemplateSpec): void {
  if (template?.spec) dropDisabledPodFields(template.spec, old?.spec);
}

interface Templated extends KubeObject {
  spec?: { template?: PodTemplateSpec };
  status?: unknown;
}

/** How a kind with a pod template is prepared: clients cannot set its status, and its template loses the fields of disabled features. */
export const ownTemplate = {
  ...ownStatus,
  prepareForCreate(draft: Templated): void {
    ownStatus.prepareForCreate(draft);
    dropDisabledTemplateFields(draft.spec?.template);
  },
  prepareForUpdate(draft: Templated, old: Templated): void {
    ownStatus.prepareForUpdate(draft, old);
    dropDisabledTemplateFields(draft.spec?.template, old.spec?.template);
  },
};

/** Warnings of a workload: about its name when it is new, about its template when anything changed. */
export function templateWarnings(
  object: { metadata: { name?: string; generation?: number } },
  old: { metadata: { generation?: number } } | undefined,
  template: PodTemplateSpec | undefined,
  path: Path = templatePath,
): string[] {
  if (old) return object.metadata.generation === old.metadata.generation ? [] : podTemplateWarnings(path, template);
  return [...podNameWarnings(object.metadata.name), ...podTemplateWarnings(path, template)];
}

export function podNameWarnings(name = ''): string[] {
  const problems = isDNS1123Label(name);
  const text =
    'metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended';
  return problems.length === 0 ? [] : [`${text}: [${problems.join(' ')}]`];
}

/** Two cells: names and images of the containers. */
export function containerCells(template: PodTemplateSpec | undefined): [string, string] {
  const containers = template?.spec?.containers ?? [];
  return [containers.map(({ name }) => name).join(','), containers.map(({ image }) => image ?? '').join(',')];
}

interface Replicated extends Templated {
  spec?: { replicas?: number; template?: PodTemplateSpec };
  status?: { replicas?: number; readyReplicas?: number };
}

/** The columns of a kind that keeps a number of equal pods. `selectorOf`: the text of its selector. */
export const replicasPrinter = <T extends Replicated>(selectorOf: (object: T) => string): Printer<T> => ({
  columns: [
    column('Name', { name: true }),
    ...['Desired', 'Current', 'Ready'].map((name) => column(name, { type: 'integer' })),
    column('Age'),
    ...wideColumns('Containers', 'Images', 'Selector'),
  ],
  cells: (object, now) => [
    object.metadata.name ?? '',
    object.spec?.replicas ?? 0,
    object.status?.replicas ?? 0,
    object.status?.readyReplicas ?? 0,
    age(object.metadata, now),
    ...containerCells(object.spec?.template),
    selectorOf(object),
  ],
});

/** The text of a selector, as a Scale has it in its status. */
export const scaleSelector = (selector: SelectorShape | undefined): string => compiled(selector)?.toString() ?? '';

interface Scaled extends KubeObject {
  spec?: { replicas?: number; selector?: SelectorShape };
  status?: { replicas?: number };
}

/** How kinds are scaled that have `spec.replicas`, `status.replicas` and a label selector. */
export const replicasScale = <T extends Scaled>(): ScaleMapping<T> => ({
  specReplicas: ({ spec }) => spec?.replicas ?? 0,
  setSpecReplicas(draft, replicas) {
    if (draft.spec) draft.spec = { ...draft.spec, replicas };
  },
  statusReplicas: ({ status }) => status?.replicas ?? 0,
  selector: ({ spec }) => scaleSelector(spec?.selector),
});
