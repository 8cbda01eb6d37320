// What a JSONPath of a printer column is made of
// (https://kubernetes.io/docs/reference/kubectl/jsonpath/; k8s.io/client-go/util/jsonpath).

export type Node =
  | { kind: 'field'; name: string }
  | { kind: 'wildcard' }
  /** `..` */
  | { kind: 'recursive' }
  | { kind: 'slice'; from: number | undefined; to: number | undefined; step: number | undefined; isIndex: boolean }
  | { kind: 'union'; paths: readonly Path[] }
  /** `[?(left operator right)]`; `exists` has no right side. */
  | { kind: 'filter'; left: Path; operator: string; right: Path }
  | { kind: 'constant'; value: string | number | boolean }
  /** A word such as `range`: it means something between actions only, and columns have one. */
  | { kind: 'word'; name: string };

export type Path = readonly Node[];

/** The text is no JSONPath, or it cannot be followed in an object. */
export class JsonPathError extends Error {}
