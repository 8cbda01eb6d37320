// Where in an object a failure is (k8s.io/apimachinery/pkg/util/validation/field, Path). A path is a chain of links that is rendered only
// when a failure is reported: validating a good object builds links and no strings.

/** An immutable path; `index` and `key` render as a subscript. */
export class Path {
  readonly parent: Path | undefined;
  readonly segment: string;
  readonly subscript: boolean;

  constructor(parent: Path | undefined, segment: string, subscript: boolean) {
    this.parent = parent;
    this.segment = segment;
    // Upstream prints a nameless field as an empty subscript (`[]` is the object itself).
    this.subscript = subscript || segment === '';
  }

  /** The path of a field of this object; more names go deeper. */
  child(...names: string[]): Path {
    let path: Path = this;
    for (const name of names) path = new Path(path, name, false);
    return path;
  }

  /** The path of a list item. */
  index(index: number): Path {
    return new Path(this, String(index), true);
  }

  /** The path of a map entry. */
  key(key: string): Path {
    return new Path(this, key, true);
  }

  /** As upstream prints it: `spec.containers[0].env[NAME]`. */
  toString(): string {
    const own = this.subscript ? `[${this.segment}]` : this.segment;
    if (this.parent === undefined) return own;
    return this.subscript ? this.parent.toString() + own : `${this.parent.toString()}.${own}`;
  }
}

/** A path that starts at a field of the object: `root('spec')`, `root('spec', 'template')`. */
export function root(name: string, ...more: string[]): Path {
  return new Path(undefined, name, false).child(...more);
}
