// The syntax tree of an expression. Every node knows its place: offset in code points.

export type Node =
  | { kind: 'literal'; at: number; value: Literal }
  | { kind: 'ident'; at: number; name: string }
  | { kind: 'select'; at: number; operand: Node; field: string; test: boolean; optional: boolean }
  | { kind: 'call'; at: number; name: string; target?: Node; args: Node[] }
  | { kind: 'list'; at: number; items: { value: Node; optional: boolean }[] }
  | { kind: 'map'; at: number; entries: { key: Node; value: Node; optional: boolean }[] }
  | { kind: 'struct'; at: number; name: string; fields: { name: string; at: number; value: Node; optional: boolean }[] }
  | { kind: 'fold'; at: number; fold: Fold; range: Node; vars: string[]; predicate?: Node; transform?: Node }
  /** cel.bind, optMap and optFlatMap: a name for the value of an expression. */
  | { kind: 'bind'; at: number; form: 'bind' | 'optMap' | 'optFlatMap'; name: string; value: Node; body: Node };

/** The macros that walk a list or map. */
export type Fold = 'all' | 'exists' | 'exists_one' | 'map' | 'filter' | 'transformMap';

export type Literal =
  | { type: 'int' | 'uint'; value: bigint }
  | { type: 'double'; value: number }
  | { type: 'string'; value: string }
  | { type: 'bytes'; value: Uint8Array }
  | { type: 'bool'; value: boolean }
  | { type: 'null'; value: null };

/** One problem with an expression, at an offset in code points (-1: before it). */
export interface Issue {
  at: number;
  message: string;
}

/** Problems as upstream's compiler prints them, with the line and a mark under the place. */
export function issuesText(source: string, issues: readonly Issue[]): string {
  const lines = source.split('\n');
  return [...issues]
    .sort((left, right) => left.at - right.at)
    .map(({ at, message }) => issueText(lines, at, message))
    .join('\n');
}

function issueText(lines: readonly string[], at: number, message: string): string {
  let line = 0;
  let column = at;
  while (line < lines.length - 1 && column > Array.from(lines[line] ?? '').length) {
    column -= Array.from(lines[line] ?? '').length + 1;
    line++;
  }
  const text = (lines[line] ?? '').replaceAll('\t', ' ');
  const head = `ERROR: <input>:${line + 1}:${column + 1}: ${message}`;
  return text === '' && lines.length === 1 ? head : `${head}\n | ${text}\n | ${'.'.repeat(Math.max(0, column))}^`;
}
