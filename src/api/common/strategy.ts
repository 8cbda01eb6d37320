// How most kinds treat the status: clients of the resource itself cannot set it, clients of the status door set nothing else
// (pkg/registry/*/*/strategy.go).
import type { KubeObject } from '#apimachinery/meta';
import type { WriteStrategy } from '../kind.ts';

type WithStatus = KubeObject & { spec?: unknown; status?: unknown };

/** Copies a field of `old`, also when it is absent there. */
export function keep<T extends object, K extends keyof T>(draft: T, old: T, field: K): void {
  if (old[field] === undefined) delete draft[field];
  else draft[field] = old[field];
}

/** The strategy of a kind whose status is dropped on create and kept on update. */
export const ownStatus = {
  prepareForCreate: (draft: WithStatus): void => {
    delete draft.status;
  },
  prepareForUpdate: (draft: WithStatus, old: WithStatus): void => keep(draft, old, 'status'),
  resetFields: [['status']],
};

/** The status door: the spec stays; `metadata` names fields of the metadata that stay too. */
export function statusDoor<T extends WithStatus>(
  rules: Omit<WriteStrategy<T>, 'prepareForUpdate'> = {},
  ...metadata: (keyof T['metadata'])[]
): WriteStrategy<T> {
  return {
    resetFields: [['spec'], ...metadata.map((field) => ['metadata', String(field)])],
    ...rules,
    prepareForUpdate(draft, old) {
      keep(draft, old, 'spec');
      for (const field of metadata) keep(draft.metadata as T['metadata'], old.metadata as T['metadata'], field);
    },
  };
}
