// Parameters of a request of AWS's query protocol: `Filter.1.Value.2=running`, `Listeners.member.1.Protocol=TCP`. Pure.
import { AwsError, missing } from './errors.ts';
import { parameterDepthMax, parametersMax } from './limits.ts';

interface Tree {
  value?: string;
  readonly children: Map<string, Tree>;
}

const newTree = (): Tree => ({ children: new Map() });

export class Parameters {
  readonly #tree: Tree;

  private constructor(tree: Tree) {
    this.#tree = tree;
  }
  /** Reads a body in `application/x-www-form-urlencoded`. Throws for one that is out of bounds. */
  static parse(body: string): Parameters {
    const root = newTree();
    let count = 0;
    for (const [key, value] of new URLSearchParams(body)) {
      if (++count > parametersMax) throw new AwsError('InvalidParameterCombination', 'The request has too many parameters');
      const parts = key.split('.', parameterDepthMax + 1);
      if (parts.length > parameterDepthMax) throw new AwsError('InvalidParameterCombination', `The parameter ${key} is too deep`);
      let tree = root;
      for (const part of parts) {
        const child = tree.children.get(part) ?? newTree();
        tree.children.set(part, child);
        tree = child;
      }
      tree.value = value;
    }
    return new Parameters(root);
  }
  get(name: string): string | undefined {
    return this.#tree.children.get(name)?.value;
  }
  /** Throws when it is not given. */
  need(name: string): string {
    const value = this.get(name);
    if (value === undefined || value === '') throw missing(name);
    return value;
  }
  /** The value of a whole number; undefined when it is not given. Throws for text that is not a whole number. */
  integer(name: string): number | undefined {
    const text = this.get(name);
    if (text === undefined) return undefined;
    if (!/^-?\d{1,10}$/.test(text)) throw new AwsError('InvalidParameterValue', `Invalid value '${text}' for ${name}`);
    return Number(text);
  }
  boolean(name: string): boolean | undefined {
    const text = this.get(name);
    return text === undefined ? undefined : text === 'true';
  }
  /** A structure; an empty one when it is not given. */
  part(name: string): Parameters {
    return new Parameters(this.#tree.children.get(name) ?? newTree());
  }
  has(name: string): boolean {
    return this.#tree.children.has(name);
  }
  /** Structures of a list, in their order. */
  parts(name: string): Parameters[] {
    return this.#items(name).map((tree) => new Parameters(tree));
  }
  /** Texts of a list, in their order. */
  list(name: string): string[] {
    return this.#items(name).flatMap(({ value }) => value ?? []);
  }
  #items(name: string): Tree[] {
    const list = this.#tree.children.get(name);
    const members = list?.children.get('member') ?? list;
    return [...(members?.children ?? [])]
      .filter(([index]) => /^\d+$/.test(index))
      .sort(([a], [b]) => Number(a) - Number(b))
      .map(([, tree]) => tree);
  }
}

/** The tags among the parameters (`Tag.1.Key`, `Tags.member.1.Key`), as an object. */
export const tagsIn = (parameters: Parameters, name: string): Record<string, string> =>
  Object.fromEntries(parameters.parts(name).map((tag) => [tag.need('Key'), tag.get('Value') ?? '']));
