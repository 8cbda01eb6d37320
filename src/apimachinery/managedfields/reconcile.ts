// Sets written before a type changed (sigs.k8s.io/structured-merge-diff, ReconcileFieldSetWithSchema): where a collection is now owned
// whole, owning anything inside it is owning it.
import { type FieldNode, leaf } from './field-set.ts';
import { isEmptyObject } from './json.ts';
import type { Shape } from './shape.ts';

function below(shape: Shape, element: string): Shape | undefined {
  if (!element.startsWith('f:')) return shape.list?.element;
  return shape.map?.byName.get(element.slice(2))?.shape ?? shape.map?.element;
}

function isWhole(shape: Shape, node: FieldNode): boolean {
  for (const element in node) {
    if (element === '.') continue;
    return (element.startsWith('f:') ? shape.map?.atomic : shape.list?.atomic) ?? false;
  }
  return false;
}

/** The set in terms of the type as it is now; the same object when nothing changed. */
export function reconcileSet(shape: Shape, set: FieldNode): FieldNode {
  let out: Record<string, FieldNode> | undefined;
  for (const element in set) {
    const node = set[element];
    const child = element === '.' || node === undefined || isEmptyObject(node) ? undefined : below(shape, element);
    if (child === undefined || node === undefined) continue;
    const next = isWhole(child, node) ? leaf : reconcileSet(child, node);
    if (next !== node) (out ??= { ...set })[element] = next;
  }
  return out ?? set;
}
