// The syntax tree of an expression. Every node knows its place: offset in code points.
import { byteLength } from '#apimachinery/validation';
import { issuesMax, snippetBytesMax } from '../limits.ts';

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

/** The nodes directly below a node. */
export function partsOf(node: Node): readonly Node[] {
  switch (node.kind) {
    case 'literal':
    case 'ident':
      return [];
    case 'select':
      return [node.operand];
    case 'call':
      return node.target ? [node.target, ...node.args] : node.args;
    case 'list':
      return node.items.map(({ value }) => value);
    case 'map':
      return node.entries.flatMap(({ key, value }) => [key, value]);
    case 'struct':
      return node.fields.map(({ value }) => value);
    case 'fold':
      return [node.range, ...(node.predicate ? [node.predicate] : []), ...(node.transform ? [node.transform] : [])];
    case 'bind':
      return [node.value, node.body];
  }
}

/** The macros that walk a list or map. */
export type Fold = 'all' | 'exists' | 'exists_one' | 'map' | 'filter' | 'transformMap';

export type Literal =
  | { type: 'int' | 'uint'; value: bigint }
  | { type: 'double'; value: number }
  | { type: 'string'; value: string }
  | { type: 'bytes'; value: Uint8Array }
  | { type: 'bool'; value: boolean }
  | { type: 'null'; value: null };

/** The offset of a problem that is with the whole expression, at no place of it. */
export const nowhere = -2;

/** One problem with an expression, at an offset in code points (-1: before it; `nowhere`). */
export interface Issue {
  at: number;
  message: string;
}

interface Line {
  text: string;
  /** One for each code point; only where the line is shown. */
  points: readonly string[] | undefined;
  length: number;
}

function lineOf(text: string): Line {
  const points = Array.from(text);
  const isShown = byteLength(text) <= snippetBytesMax;
  return { text: text.replaceAll('\t', ' '), points: isShown ? points : undefined, length: points.length };
}

/** Problems as upstream's compiler prints them, with the line and a mark under the place. */
export function issuesText(source: string, issues: readonly Issue[]): string {
  const lines = source.split('\n').map(lineOf);
  const texts = issues
    .slice(0, issuesMax)
    .sort((left, right) => left.at - right.at)
    .map(({ at, message }) => issueText(lines, at, message));
  const omitted = issues.length > issuesMax ? `${issues.length - issuesMax} more errors were truncated` : '';
  return texts.join('\n') + omitted;
}

const isWide = (point: string): boolean => point > '\u007f';

function issueText(lines: readonly Line[], at: number, message: string): string {
  if (at === nowhere) return `ERROR: <input>:-1:0: ${message}`;
  let number = 0;
  let column = at;
  for (; number < lines.length - 1 && column > (lines[number]?.length ?? 0); number++) column -= (lines[number]?.length ?? 0) + 1;
  const { text = '', points } = lines[number] ?? {};
  const head = `ERROR: <input>:${number + 1}:${column + 1}: ${message}`;
  if (!points || (text === '' && lines.length === 1)) return head;
  const dots = points.slice(0, Math.max(0, column)).map((point) => (isWide(point) ? '\uff0e' : '.'));
  return `${head}\n | ${text}\n | ${dots.join('')}${isWide(points[column] ?? '') ? '\uff3e' : '^'}`;
}
