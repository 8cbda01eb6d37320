// Conditions of flow control objects, and how their status is written (pkg/apis/flowcontrol/validation, pkg/registry/flowcontrol).
import { type FieldError, root } from '#apimachinery/field';
import type { KubeObject } from '#apimachinery/meta';
import { keepObjectMeta } from '../../common/object-meta.ts';
import { collect, isEmpty, type Report } from '../../common/report.ts';
import { keep } from '../../common/strategy.ts';
import type { WriteStrategy } from '../../kind.ts';

interface WithConditions extends KubeObject {
  spec?: unknown;
  status?: { conditions?: { type?: string }[] };
}

export function validateStatus(report: Report, { status }: WithConditions): void {
  const seen = new Set<string>();
  status?.conditions?.forEach(({ type = '' }, index) => {
    const path = root('status', 'conditions').index(index).child('type');
    if (seen.has(type)) report.duplicate(path, type);
    seen.add(type);
    if (isEmpty(type)) report.required(path);
  });
}

/** The strategy of writes by `status`, which change the status and who owns its fields, and nothing else. */
export const flowStatusDoor: WriteStrategy<WithConditions> = {
  resetFields: [['metadata'], ['spec']],
  prepareForUpdate(draft, old) {
    keepObjectMeta(draft, old);
    keep(draft, old, 'spec');
  },
  validateUpdate: (object): FieldError[] => collect((report) => validateStatus(report, object)),
};
