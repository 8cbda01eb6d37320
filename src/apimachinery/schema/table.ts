// The schema table over the generated facts: a type is read from its notation when it is first asked for.
import { apiVersionOf, parseApiVersion } from '../meta/index.ts';
import { parseType } from './notation.ts';
import type { SchemaTable, TypeSchema } from './types.ts';

/** The form of src/api/schema.gen.json. */
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

class FileTable implements SchemaTable {
  readonly #file: SchemaFile;
  readonly #types = new Map<string, TypeSchema>();
  #kinds: Map<string, string> | undefined;

  constructor(file: SchemaFile) {
    this.#file = file;
  }

  type(name: string): TypeSchema | undefined {
    const known = this.#types.get(name);
    if (known !== undefined) return known;
    const lines = Object.hasOwn(this.#file.types, name) ? this.#file.types[name] : undefined;
    if (lines === undefined) return undefined;
    const type = parseType(name, lines, (inner) => this.type(inner));
    const gvks = this.#gvksOf(name);
    if (gvks.length > 0) type.gvks = gvks;
    this.#types.set(name, type);
    return type;
  }

  kind(group: string, version: string, kind: string): TypeSchema | undefined {
    const apiVersion = apiVersionOf(group, version);
    const name = this.#kindNames().get(`${apiVersion} ${kind}`);
    if (name !== undefined) return this.type(name);
    return metaKinds.includes(kind) && Object.hasOwn(this.#file.kinds, apiVersion)
      ? this.type(`${metaPackage}.${kind}`)
      : undefined;
  }

  #gvksOf(type: string): { group: string; version: string; kind: string }[] {
    const packageName = type.slice(0, type.lastIndexOf('.'));
    const kind = type.slice(packageName.length + 1);
    const inPackage = Object.entries(this.#file.kinds).filter(([, packages]) => packages[packageName]?.split(' ').includes(kind));
    return inPackage.map(([apiVersion]) => ({ ...parseApiVersion(apiVersion), kind }));
  }

  names(): string[] {
    return Object.keys(this.#file.types);
  }

  kinds(): { group: string; version: string; kind: string; type: string }[] {
    return [...this.#kindNames()].map(([key, type]) => {
      const [apiVersion = '', kind = ''] = key.split(' ');
      return { ...parseApiVersion(apiVersion), kind, type };
    });
  }

  #kindNames(): Map<string, string> {
    if (this.#kinds !== undefined) return this.#kinds;
    this.#kinds = new Map();
    for (const [apiVersion, packages] of Object.entries(this.#file.kinds)) {
      for (const [name, kinds] of Object.entries(packages)) {
        for (const kind of kinds.split(' ')) this.#kinds.set(`${apiVersion} ${kind}`, `${name}.${kind}`);
      }
    }
    return this.#kinds;
  }
}

/** The table over one generated file; cheap: nothing is read before it is asked for. */
export const schemaTableOf = (file: SchemaFile): SchemaTable => new FileTable(file);
