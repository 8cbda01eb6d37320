// Which children belong to a controller (pkg/controller controller_ref_manager.go): those it controls and still selects, and orphans it
// selects, which it adopts. Children it controls but selects no longer are let go.
import { controllerOf, type KubeObject } from '#apimachinery/meta';

export interface Claims<T> {
  /** Controlled and selected. */
  owned: T[];
  /** Selected by nobody's child yet. */
  adoptable: T[];
  /** Controlled, but no longer selected. */
  releasable: T[];
}

/** `children` may hold others' children: they are left out. A controller that is going away takes and gives nothing. */
export function claims<T extends KubeObject>(
  owner: KubeObject,
  children: readonly T[],
  selects: (child: T) => boolean,
): Claims<T> {
  const result: Claims<T> = { owned: [], adoptable: [], releasable: [] };
  const leaving = owner.metadata.deletionTimestamp !== undefined;
  for (const child of children) {
    const controller = controllerOf(child.metadata);
    const selected = selects(child);
    if (controller === undefined) {
      if (!leaving && selected && child.metadata.deletionTimestamp === undefined) result.adoptable.push(child);
    } else if (controller.uid === owner.metadata.uid) {
      if (selected) result.owned.push(child);
      else if (!leaving) result.releasable.push(child);
    }
  }
  return result;
}
