// The answer to an apply against fields of others (k8s.io/apimachinery/pkg/util/managedfields, conflict.go).
import { quote } from '#utils';
import { applyConflict, type StatusError } from '../errors/index.ts';
import { type FieldSet, paths } from './field-set.ts';
import { type Identity, identityOf } from './managed.ts';

/** What one owner would lose. */
export interface Conflict {
  owner: Identity;
  set: FieldSet;
}

/** Thrown inside the room; callers see the StatusError. */
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
  const listed = sorted.map(({ owner, set }) => ({ who: ownerText(owner), fields: paths(set) }));
  const causes = listed.flatMap(({ who, fields }) =>
    fields.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${who}`, field })),
  );
  const [first] = causes;
  if (causes.length === 1 && first !== undefined) {
    return applyConflict(causes, `Apply failed with 1 conflict: ${first.message}: ${first.field}`);
  }
  const lines = listed.flatMap(({ who, fields }) => [`conflicts with ${who}:`, ...fields.map((field) => `- ${field}`)]);
  return applyConflict(causes, `Apply failed with ${causes.length} conflicts: ${lines.join('\n')}`);
}
