// Macros: calls that bind names (https://github.com/google/cel-spec/blob/master/doc/langdef.md#macros, cel-go ext/comprehensions, ext/lists and optionals).
import type { Fold, Issue, Node } from './ast.ts';

/** What a call means when it is a macro; undefined when it is not a macro; an issue when it is a macro that is written wrong. */
export function expandMacro(name: string, at: number, args: readonly Node[], target?: Node): Node | Issue | undefined {
  if (!target) return name === 'has' && args.length === 1 && args[0] ? expandHas(at, args[0]) : undefined;
  if (name === 'bind')
    return target.kind === 'ident' && target.name === 'cel' && args.length === 3
      ? expandBind('bind', at, args[1] as Node, args[0], args[2])
      : undefined;
  if (name === 'optMap' || name === 'optFlatMap')
    return args.length === 2 ? expandBind(name, at, target, args[0], args[1]) : undefined;
  if (name === 'sortBy' && args.length === 2) return expandSortBy(at, target, args);
  const shape = folds[`${name}/${args.length}`];
  return shape && expandFold(shape, at, target, args);
}

function expandHas(at: number, argument: Node): Node | Issue {
  if (argument.kind === 'select' && !argument.optional) return { ...argument, at, test: true };
  return { at: argument.at, message: 'invalid argument to has() macro' };
}

function expandBind(
  form: 'bind' | 'optMap' | 'optFlatMap',
  at: number,
  value: Node,
  name: Node | undefined,
  body: Node | undefined,
): Node | Issue {
  if (name?.kind !== 'ident' || !body)
    return {
      at: name?.at ?? at,
      message:
        form === 'bind'
          ? 'cel.bind() variable names must be simple identifiers'
          : `${form}() variable name must be a simple identifier`,
    };
  return { kind: 'bind', at, form, name: name.name, value, body };
}

/** A list is sorted by the keys that its items have: it gets a name, so that it is made once, and the keys are a list beside it. */
function expandSortBy(at: number, list: Node, args: readonly Node[]): Node | Issue {
  const input: Node = { kind: 'ident', at, name: '@__sortBy_input__' };
  const keys = expandFold(shape('map', 1, 'transform'), at, input, args);
  if (!('kind' in keys)) return keys;
  const body: Node = { kind: 'call', at, name: '@sortByAssociatedKeys', target: input, args: [keys] };
  return { kind: 'bind', at, form: 'bind', name: input.name, value: list, body };
}

interface Shape {
  fold: Fold;
  vars: number;
  predicate: boolean;
  transform: boolean;
}

const shape = (fold: Fold, vars: number, ...parts: ('predicate' | 'transform')[]): Shape => ({
  fold,
  vars,
  predicate: parts.includes('predicate'),
  transform: parts.includes('transform'),
});

const folds: Record<string, Shape> = {
  'all/2': shape('all', 1, 'predicate'),
  'exists/2': shape('exists', 1, 'predicate'),
  'exists_one/2': shape('exists_one', 1, 'predicate'),
  'existsOne/2': shape('exists_one', 1, 'predicate'),
  'filter/2': shape('filter', 1, 'predicate'),
  'map/2': shape('map', 1, 'transform'),
  'map/3': shape('map', 1, 'predicate', 'transform'),
  'all/3': shape('all', 2, 'predicate'),
  'exists/3': shape('exists', 2, 'predicate'),
  'existsOne/3': shape('exists_one', 2, 'predicate'),
  'transformList/3': shape('map', 2, 'transform'),
  'transformList/4': shape('map', 2, 'predicate', 'transform'),
  'transformMap/3': shape('transformMap', 2, 'transform'),
  'transformMap/4': shape('transformMap', 2, 'predicate', 'transform'),
};

function expandFold({ fold, vars, predicate, transform }: Shape, at: number, range: Node, args: readonly Node[]): Node | Issue {
  const names: string[] = [];
  for (const argument of args.slice(0, vars)) {
    if (argument.kind !== 'ident') return { at: argument.at, message: 'argument must be a simple name' };
    if (argument.name === '__result__' || argument.name === '@result')
      return { at: argument.at, message: 'iteration variable overwrites accumulator variable' };
    names.push(argument.name);
  }
  const rest = args.slice(vars);
  const condition = predicate ? rest.shift() : undefined;
  const result = transform ? rest.shift() : undefined;
  return {
    kind: 'fold',
    at,
    fold,
    range,
    vars: names,
    ...(condition && { predicate: condition }),
    ...(result && { transform: result }),
  };
}
