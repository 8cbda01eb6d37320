// Controller revisions (apps/v1; pkg/registry/apps/controllerrevision).
import type { ControllerRevision } from '#api/apps/v1';
import { type FieldError, root } from '#apimachinery/field';
import { immutableError } from '#apimachinery/validation';
import { controllerOf, parseApiVersion } from '#apimachinery/meta';
import { nonnegative } from '../../common/numbers.ts';
import { age, columns } from '../../common/printing.ts';
import { collect } from '../../common/report.ts';
import { defineKind } from '../../kind.ts';

const dataPath = root('data');

function validate({ revision, data }: ControllerRevision): FieldError[] {
  return collect((report) => {
    nonnegative(report, root('revision'), revision);
    if (data === undefined || data === null) report.required(dataPath, 'data is mandatory');
    else if (typeof data !== 'object' || Array.isArray(data)) report.required(dataPath, 'data must be a valid JSON object');
  });
}

function controllerText({ metadata }: ControllerRevision): string {
  const owner = controllerOf(metadata);
  if (!owner) return '<none>';
  const { group } = parseApiVersion(owner.apiVersion);
  const kind = owner.kind.toLowerCase();
  return `${group === '' ? kind : `${kind}.${group.toLowerCase()}`}/${owner.name}`;
}

export const controllerRevision = defineKind<ControllerRevision>({
  group: 'apps',
  version: 'v1',
  kind: 'ControllerRevision',
  validate,
  validateUpdate: (object, old) =>
    collect((report) => {
      nonnegative(report, root('revision'), object.revision);
      // Upstream keeps the text, and compares that.
      if (JSON.stringify(object.data) !== JSON.stringify(old.data)) report.invalid(dataPath, object.data ?? null, immutableError);
    }),
  printer: {
    columns: columns('Name', 'Controller', 'Revision', 'Age'),
    cells: (object, now) => [object.metadata.name ?? '', controllerText(object), object.revision ?? 0, age(object.metadata, now)],
  },
});
