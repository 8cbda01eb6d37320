// The answer to an apply against fields of others (k8s.io/apimachinery/pkg/util/managedfields, conflict.go).
import { quote } from '#utils';
import { applyConflict, type StatusError } from '../errors/index.ts';
import { fieldErrorsMax } from '../field/index.ts';
import { type FieldSet, paths } from './field-set.ts';
import { type Identity, identityOf } from './managed.ts';

/** The fields that one other owner would lose by an apply. */
export interface Conflict {
  owner: Identity;
  set: FieldSet;
}

/** The conflict of an apply inside this room; callers see the StatusError. */
export class ConflictError extends Error {
  readonly conflicts: readonly Conflict[];
  constructor(conflicts: readonly Conflict[]) {
    super('conflicts');
    this.conflicts = conflicts;
  }
}

function ownerText({ manager, operation, apiVersion, subresource }: Identity): string {
  const who = subresource === '' ? quote(manager) : `${quote(manager)} with subresource ${quote(subresource)}`;
  return operation === 'Update' ? `${who} using ${apiVersion}` : who;
}

export function conflictStatus(conflicts: readonly Conflict[]): StatusError {
  const sorted = [...conflicts].sort((a, b) => (identityOf(a.owner) < identityOf(b.owner) ? -1 : 1));
  const all = sorted.map(({ owner, set }) => ({ who: ownerText(owner), fields: paths(set) }));
  const count = all.reduce((sum, { fields }) => sum + fields.length, 0);
  let left = fieldErrorsMax;
  const listed = all.flatMap(({ who, fields }) => {
    const shown = fields.slice(0, left);
    left -= shown.length;
    return shown.length > 0 ? [{ who, fields: shown }] : [];
  });
  const causes = listed.flatMap(({ who, fields }) =>
    fields.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${who}`, field })),
  );
  const [first] = causes;
  if (causes.length === 1 && first !== undefined) {
    return applyConflict(causes, `Apply failed with 1 conflict: ${first.message}: ${first.field}`);
  }
  const lines = listed.flatMap(({ who, fields }) => [`conflicts with ${who}:`, ...fields.map((field) => `- ${field}`)]);
  if (count > causes.length) lines.push('more conflicts are not shown');
  return applyConflict(causes, `Apply failed with ${count} conflicts: ${lines.join('\n')}`);
}
