// Runtime classes (node.k8s.io/v1; pkg/registry/node/runtimeclass).
import type { Toleration } from '#api/core/v1';
import type { RuntimeClass } from '#api/node/v1';
import { type Path, root } from '#apimachinery/field';
import { isDNS1123Label } from '#apimachinery/validation';
import { immutable } from '../../common/immutable.ts';
import { internalForm } from '../../common/internal-form.ts';
import { validateLabels } from '../../common/labels.ts';
import { age, columns } from '../../common/printing.ts';
import { roundUpResourceList } from '../../common/quantities.ts';
import { collect, isEmpty, type Report } from '../../common/report.ts';
import { nodeLabelWarning } from '../../core/common/node-labels.ts';
import { validateContainerResources } from '../../core/common/resources.ts';
import { validateTolerations } from '../../core/pod/validation/tolerations.ts';
import { defineKind } from '../../kind.ts';

const selectorPath = root('scheduling', 'nodeSelector');

function validateDistinct(report: Report, path: Path, tolerations: Toleration[]): void {
  const seen = new Set<string>();
  tolerations.forEach((toleration, index) => {
    const { key = '', operator = '', value = '', effect = '' } = toleration;
    const text = JSON.stringify([key, operator, value, effect]);
    if (seen.has(text)) report.duplicate(path.index(index), internalForm('core.Toleration', toleration));
    seen.add(text);
  });
}

function validateClass(report: Report, { handler, overhead, scheduling }: RuntimeClass): void {
  const path = root('handler');
  if (isEmpty(handler)) report.required(path);
  else report.problems(path, handler, isDNS1123Label(handler));
  if (overhead) validateContainerResources(report, root('overhead'), { limits: overhead.podFixed ?? {} }, {});
  if (!scheduling) return;
  validateLabels(report, selectorPath, scheduling.nodeSelector);
  const at = root('scheduling', 'tolerations');
  validateTolerations(report, at, scheduling.tolerations);
  validateDistinct(report, at, scheduling.tolerations ?? []);
}

export const runtimeClass = defineKind<RuntimeClass>({
  group: 'node.k8s.io',
  version: 'v1',
  kind: 'RuntimeClass',
  kubeFinalizers: false,
  defaults: ({ overhead }) => roundUpResourceList(overhead?.podFixed),
  validate: (object) => collect((report) => validateClass(report, object)),
  validateUpdate: (object, old) =>
    collect((report) => {
      validateClass(report, object);
      immutable(report, root('handler'), object.handler, old.handler);
    }),
  warnings: ({ scheduling }) =>
    Object.keys(scheduling?.nodeSelector ?? {}).flatMap((key) => {
      const message = nodeLabelWarning(key);
      return message === undefined ? [] : [`${selectorPath.toString()}: ${message}`];
    }),
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  printer: {
    columns: columns('Name', 'Handler', 'Age'),
    cells: ({ metadata, handler }, now) => [metadata.name ?? '', handler, age(metadata, now)],
  },
});
