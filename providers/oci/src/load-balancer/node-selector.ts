// The label selector that chooses among nodes, in the notation of kubectl
// (https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors). Pure.
import type { Node } from 'sagong/cloud-provider';

type Test = (labels: Readonly<Record<string, string>>) => boolean;

const key = '[A-Za-z0-9][\\w./-]*';
const value = '[\\w.-]*';
const setForm = new RegExp(`^(${key})\\s+(in|notin)\\s*\\(([^()]*)\\)$`);
const equalForm = new RegExp(`^(${key})\\s*(==|=|!=)\\s*(${value})$`);
const existsForm = new RegExp(`^(!?)\\s*(${key})$`);

function requirement(text: string): Test | undefined {
  const set = setForm.exec(text);
  if (set) {
    const [, name = '', operator, list = ''] = set;
    const values = list.split(',').map((one) => one.trim());
    // A label that is absent is not in any set.
    return (labels) => (labels[name] !== undefined && values.includes(labels[name])) === (operator === 'in');
  }
  const equal = equalForm.exec(text);
  if (equal) {
    const [, name = '', operator, wanted = ''] = equal;
    return (labels) => (labels[name] === wanted) !== (operator === '!=');
  }
  const exists = existsForm.exec(text);
  if (!exists) return undefined;
  const [, not, name = ''] = exists;
  return (labels) => (labels[name] !== undefined) === (not === '');
}

/** Commas inside of parentheses do not end a requirement. */
const requirementsIn = (text: string): string[] => text.split(/,(?![^()]*\))/).map((one) => one.trim());

/** Throws with the name of the annotation for what is no selector. */
export function selected(nodes: readonly Node[], selector: string | undefined, annotation: string): readonly Node[] {
  if (selector === undefined) return nodes;
  const tests = requirementsIn(selector).map((text) => {
    const test = requirement(text);
    if (!test) throw new Error(`annotation ${annotation}: ${JSON.stringify(selector)} is not a label selector`);
    return test;
  });
  return nodes.filter(({ metadata }) => tests.every((test) => test(metadata.labels ?? {})));
}
