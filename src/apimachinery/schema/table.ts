// The schema table over the generated facts: a type is read from its notation when it is first asked for.
import { apiVersionOf, parseApiVersion } from '../meta/index.ts';
import { parseType } from './notation.ts';
import type { SchemaTable, TypeSchema } from './types.ts';

/** The form of the file src/api/schema.gen.json. */
export interface SchemaFile {
  source: string;
  version: string;
  /** apiVersion -> package -> kinds, separated by spaces. */
  kinds: Record<string, Record<string, string>>;
  /** Full type name -> notation of its fields. */
  types: Record<string, string[]>;
}

const metaPackage = 'io.k8s.apimachinery.pkg.apis.meta.v1';
/** Kinds that every group version knows (metav1.AddToGroupVersion). */
const metaKinds = ['WatchEvent', 'ListOptions', 'GetOptions', 'DeleteOptions', 'CreateOptions', 'UpdateOptions', 'PatchOptions'];

/** What the file says of kinds, by what is asked for. */
interface Kinds {
  /** Full type names, by `<apiVersion> <kind>`. */
  names: Map<string, string>;
  /** Of which kinds a type is, by its full name. */
  gvks: Map<string, { group: string; version: string; kind: string }[]>;
}

class FileTable implements SchemaTable {
  readonly #file: SchemaFile;
  readonly #types = new Map<string, TypeSchema>();
  #kinds: Kinds | undefined;

  constructor(file: SchemaFile) {
    this.#file = file;
  }

  type(name: string): TypeSchema | undefined {
    const known = this.#types.get(name);
    if (known !== undefined) return known;
    const lines = Object.hasOwn(this.#file.types, name) ? this.#file.types[name] : undefined;
    if (lines === undefined) return undefined;
    const type = parseType(name, lines, (inner) => this.type(inner));
    const gvks = this.#known().gvks.get(name);
    if (gvks) type.gvks = gvks;
    this.#types.set(name, type);
    return type;
  }

  kind(group: string, version: string, kind: string): TypeSchema | undefined {
    const apiVersion = apiVersionOf(group, version);
    const name = this.#known().names.get(`${apiVersion} ${kind}`);
    if (name !== undefined) return this.type(name);
    return metaKinds.includes(kind) && Object.hasOwn(this.#file.kinds, apiVersion)
      ? this.type(`${metaPackage}.${kind}`)
      : undefined;
  }

  names(): string[] {
    return Object.keys(this.#file.types);
  }

  kinds(): { group: string; version: string; kind: string; type: string }[] {
    return [...this.#known().names].map(([key, type]) => {
      const [apiVersion = '', kind = ''] = key.split(' ');
      return { ...parseApiVersion(apiVersion), kind, type };
    });
  }

  #known(): Kinds {
    if (this.#kinds !== undefined) return this.#kinds;
    const kinds: Kinds = { names: new Map(), gvks: new Map() };
    for (const [apiVersion, packages] of Object.entries(this.#file.kinds)) {
      const { group, version } = parseApiVersion(apiVersion);
      for (const [packageName, listed] of Object.entries(packages)) {
        for (const kind of listed.split(' ')) {
          const name = `${packageName}.${kind}`;
          kinds.names.set(`${apiVersion} ${kind}`, name);
          kinds.gvks.set(name, [...(kinds.gvks.get(name) ?? []), { group, version, kind }]);
        }
      }
    }
    this.#kinds = kinds;
    return kinds;
  }
}

/** The table over one generated file; cheap: nothing is read before it is asked for. */
export const schemaTableOf = (file: SchemaFile): SchemaTable => new FileTable(file);
