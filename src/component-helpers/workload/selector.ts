// Selectors of frozen objects, compiled once per object (k8s.io/apimachinery/pkg/labels).
import { fromLabelSelector, fromSet, type LabelSelector, nothing, type Selector } from '#apimachinery/labels';

const compiled = new WeakMap<object, Selector>();

function once<T extends object>(source: T, compile: (source: T) => Selector): Selector {
  const known = compiled.get(source);
  if (known) return known;
  const selector = safely(() => compile(source));
  compiled.set(source, selector);
  return selector;
}

/** A selector that is not valid selects nothing: validation keeps such out. */
function safely(compile: () => Selector): Selector {
  try {
    return compile();
  } catch {
    return nothing;
  }
}

/** The selector of a workload. An undefined one selects nothing, and so does an empty one (a controller never owns everything). */
export function workloadSelector(selector: LabelSelector | undefined): Selector {
  if (selector === undefined) return nothing;
  const result = once(selector, fromLabelSelector);
  return result.empty ? nothing : result;
}

/** The selector of a Service or ReplicationController; when it is undefined or empty, it selects nothing. */
export function setSelector(labels: Record<string, string> | undefined): Selector {
  if (labels === undefined) return nothing;
  const result = once(labels, fromSet);
  return result.empty ? nothing : result;
}
