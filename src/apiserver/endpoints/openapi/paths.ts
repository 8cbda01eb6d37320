// The operations of a group version (k8s.io/apiserver/pkg/endpoints/installer.go): which there are, what they take and answer.
import type { SchemaTable } from '#apimachinery/schema';
import type { DiscoveredResource } from '../../registry/resource-table.ts';
import { namespaceParameter, nameParameter, options, parametersOf, pathParameter, pretty } from './parameters.ts';
import { bareString, nameOf, type Parameter, type Route, type TypeName } from './route.ts';
import type { Descriptions } from './schemas.ts';

export interface PathsInput {
  group: string;
  version: string;
  resources: readonly DiscoveredResource[];
  /** Full type name of a kind, or undefined. */
  typeName(kind: { group: string; version: string; kind: string }): string | undefined;
  /** Whether the documents name the object as the answer to a resource's deletion. */
  returnsDeleted(resource: string): boolean;
  isCustom(resource: string): boolean;
  table: SchemaTable;
  descriptions: Descriptions;
}

const metaPackage = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const statusType = `${metaPackage}.Status`;
export const mediaTypes = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];
const streamTypes = ['application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch'];
const customTypes = ['application/json', 'application/yaml'];
const anything = ['*/*'];
const patchTypes = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
];
const proxied = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'];
/** Subresources that hand the connection on, by the kind of their options. */
const connections: Readonly<Record<string, { methods: readonly string[]; withPath: boolean }>> = {
  NodeProxyOptions: { methods: proxied, withPath: true },
  PodAttachOptions: { methods: ['get', 'post'], withPath: false },
  PodExecOptions: { methods: ['get', 'post'], withPath: false },
  PodPortForwardOptions: { methods: ['get', 'post'], withPath: false },
  PodProxyOptions: { methods: proxied, withPath: true },
  ServiceProxyOptions: { methods: proxied, withPath: true },
};

const ok = 'OK';
const unauthorized = { status: 401, description: 'Unauthorized' };
const answersOf = (type: TypeName | undefined, ...statuses: number[]): Route['answers'] => {
  const texts: Record<number, string> = { 200: ok, 201: 'Created', 202: 'Accepted' };
  const good = statuses.map((status) => ({ status, description: texts[status] ?? '', ...(type !== undefined && { type }) }));
  return [...good, unauthorized];
};

export const routesOf = (input: PathsInput): Route[] =>
  input.resources.flatMap((resource) => new ResourceRoutes(input, resource).all());

/** What stands before a noun: upstream's rule, which knows letters only. */
const article = (noun: string): string => (/^[AEIOU]/i.test(noun) ? ' an ' : ' a ');
const titled = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1).toLowerCase();

class ResourceRoutes {
  readonly #input: PathsInput;
  readonly #resource: DiscoveredResource;
  readonly #base: string;
  readonly #plural: string;
  readonly #subresource: string;
  /** The kind that identifiers and texts name: a subresource's is that of its resource. */
  readonly #kind: string;
  readonly #type: TypeName | undefined;

  constructor(input: PathsInput, resource: DiscoveredResource) {
    const { group, version, resources } = input;
    const [plural = '', subresource = ''] = resource.name.split('/');
    this.#input = input;
    this.#resource = resource;
    this.#base = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    this.#plural = plural;
    this.#subresource = subresource;
    this.#kind = resources.find(({ name }) => name === plural)?.kind.kind ?? resource.kind.kind;
    this.#type = input.typeName(resource.kind);
  }

  all(): Route[] {
    const connection = this.#subresource === '' ? undefined : connections[this.#resource.kind.kind];
    if (connection) return this.#connections(connection);
    if (this.#subresource === 'log') return [this.#log()];
    const [collection, item] = [this.#collectionPath(), `${this.#collectionPath()}/{name}`];
    if (this.#subresource !== '')
      return this.#verbs(['get', 'create', 'update', 'patch', 'delete'], `${item}/${this.#subresource}`);
    return [
      ...this.#verbs(['list', 'create', 'deletecollection'], collection),
      ...this.#verbs(['get', 'update', 'patch', 'delete'], item),
      ...(this.#resource.namespaced ? this.#verbs(['list'], `${this.#base}/${this.#plural}`) : []),
      ...this.#watches(),
    ];
  }

  #collectionPath(inner = ''): string {
    return `${this.#base}${inner}${this.#resource.namespaced ? '/namespaces/{namespace}' : ''}/${this.#plural}`;
  }

  #verbs(verbs: readonly string[], path: string): Route[] {
    return verbs.filter((verb) => this.#resource.verbs.includes(verb)).map((verb) => this.#operation(verb, path));
  }

  #operation(verb: string, path: string): Route {
    const { typeName, returnsDeleted } = this.#input;
    const { kind } = this.#resource;
    const type = this.#type;
    const of = this.#subresource === '' ? '' : `${this.#subresource} of`;
    const the = `${of === '' ? '' : `${of} `}the specified ${this.#kind}`;
    const a = `${of === '' ? '' : ` ${of}`}${article(this.#kind)}${this.#kind}`;
    const body = type === undefined ? {} : { body: { type, required: true } };
    const deletion = { body: { type: options.delete, required: false } };
    switch (verb) {
      case 'get': {
        const asked = this.#isCustom() ? { options: options.get } : {};
        return this.#route('get', path, 'read', 'get', `read ${the}`, { answers: answersOf(type, 200), ...asked });
      }
      case 'list': {
        const watched = this.#resource.verbs.includes('watch') ? 'list or watch' : 'list';
        const answers = answersOf(typeName({ ...kind, kind: `${kind.kind}List` }), 200);
        const produces = this.#isCustom() ? customTypes : [...mediaTypes, ...streamTypes];
        return this.#route('get', path, 'list', 'list', `${watched} objects of kind ${this.#kind}`, {
          answers,
          produces,
          options: options.list,
        });
      }
      case 'create':
        return this.#route('post', path, 'create', 'post', `create${a}`, {
          ...body,
          answers: answersOf(type, 200, 201, 202),
          options: options.create,
        });
      case 'update':
        return this.#route('put', path, 'replace', 'put', `replace ${the}`, {
          ...body,
          answers: answersOf(type, 200, 201),
          options: options.update,
        });
      case 'patch': {
        const consumes = this.#isCustom() ? patchTypes.filter((one) => !one.includes('strategic')) : patchTypes;
        const patch = { body: { type: `${metaPackage}.Patch`, required: true }, consumes };
        const answers = answersOf(type, ...(this.#isCustom() ? [200] : [200, 201]));
        return this.#route('patch', path, 'patch', 'patch', `partially update ${the}`, {
          ...patch,
          answers,
          options: options.patch,
        });
      }
      case 'delete': {
        const answers = answersOf(returnsDeleted(this.#plural) ? type : statusType, 200, 202);
        return this.#route('delete', path, 'delete', 'delete', `delete${a}`, { ...deletion, answers, options: options.delete });
      }
      default:
        return this.#removesMany(path, deletion);
    }
  }

  /** A collection of custom resources takes what a list does, a built-in one what selects and what deletes. */
  #removesMany(path: string, deletion: Pick<RouteParts, 'body'>): Route {
    const text = `delete collection of ${this.#kind}`;
    const selection = { parameters: parametersOf(this.#input, options.list, ['watch', 'allowWatchBookmarks']) };
    const own = this.#isCustom() ? { options: options.list } : { ...deletion, ...selection, options: options.delete };
    const more = { ...own, answers: answersOf(statusType, 200), inner: 'Collection' };
    return this.#route('delete', path, 'delete', 'deletecollection', text, more);
  }

  #isCustom(): boolean {
    return this.#input.isCustom(this.#plural);
  }

  /** Paths of their own, from before lists took `watch`; custom resources never had them. */
  #watches(): Route[] {
    if (!this.#resource.verbs.includes('watch') || this.#isCustom()) return [];
    const old = "deprecated: use the 'watch' parameter with a list operation instead";
    const answers = answersOf(`${metaPackage}.WatchEvent`, 200);
    const more = { answers, produces: [...mediaTypes, ...streamTypes], options: options.list };
    const many = (path: string): Route =>
      this.#route('get', path, 'watch', 'watchlist', `watch individual changes to a list of ${this.#kind}. ${old}.`, {
        ...more,
        ending: 'List',
      });
    const oneText = `watch changes to an object of kind ${this.#kind}. ${old}, filtered to a single item with the 'fieldSelector' parameter.`;
    const collection = this.#collectionPath('/watch');
    const isOne = this.#resource.verbs.includes('get');
    return [
      many(collection),
      ...(isOne ? [this.#route('get', `${collection}/{name}`, 'watch', 'watch', oneText, more)] : []),
      ...(this.#resource.namespaced ? [many(`${this.#base}/watch/${this.#plural}`)] : []),
    ];
  }

  #log(): Route {
    const path = `${this.#collectionPath()}/{name}/log`;
    return this.#route('get', path, 'read', 'get', `read log of the specified ${this.#kind}`, {
      answers: answersOf(bareString, 200),
      produces: ['text/plain', ...mediaTypes],
      options: 'io.k8s.api.core.v1.PodLogOptions',
    });
  }

  #connections({ methods, withPath }: { methods: readonly string[]; withPath: boolean }): Route[] {
    const path = `${this.#collectionPath()}/{name}/${this.#subresource}`;
    const optionsType = `io.k8s.api.core.v1.${this.#resource.kind.kind}`;
    return [path, ...(withPath ? [`${path}/{path}`] : [])].flatMap((at) =>
      methods.map((method) =>
        this.#route(
          method,
          at,
          'connect',
          'connect',
          `connect ${method.toUpperCase()} requests to ${this.#subresource} of ${this.#kind}`,
          {
            answers: answersOf(bareString, 200),
            produces: anything,
            options: optionsType,
            inner: titled(method),
            ending: at === path ? '' : 'WithPath',
            isPlain: true,
          },
        ),
      ),
    );
  }

  #route(method: string, path: string, verb: string, action: string, description: string, more: RouteParts): Route {
    const everywhere = this.#resource.namespaced && !path.includes('{namespace}') && !/\{name\}/.test(path);
    const scope = this.#resource.namespaced && !everywhere ? 'Namespaced' : '';
    const noun = `${more.inner ?? ''}${scope}${this.#kind}${titled(this.#subresource)}${more.ending ?? ''}`;
    const named = nameOf(path, verb, everywhere ? `${noun}ForAllNamespaces` : noun);
    const { group, version } = this.#input;
    // Subresources of custom resources are about these.
    const kind = this.#isCustom() ? { group, version, kind: this.#kind } : this.#resource.kind;
    const inPath: Parameter[] = [
      ...(path.includes('{name}') ? [nameParameter(kind.kind)] : []),
      ...(path.includes('{namespace}') ? [namespaceParameter] : []),
      ...(path.includes('{path}') ? [pathParameter] : []),
    ];
    const asked = more.options === undefined ? [] : parametersOf(this.#input, more.options);
    return {
      path,
      method,
      ...named,
      description,
      action,
      kind,
      parameters: [...(more.isPlain ? [] : [pretty(this.#input)]), ...asked, ...(more.parameters ?? []), ...inPath],
      ...(more.body && { body: more.body }),
      consumes: more.consumes ?? (this.#isCustom() ? customTypes : anything),
      produces: more.produces ?? (this.#isCustom() ? customTypes : mediaTypes),
      answers: more.answers,
    };
  }
}

interface RouteParts {
  answers: Route['answers'];
  body?: Route['body'];
  consumes?: readonly string[];
  produces?: readonly string[];
  /** The type whose fields are parameters. */
  options?: string;
  parameters?: readonly Parameter[];
  /** Parts of the identifier before and after the kind. */
  inner?: string;
  ending?: string;
  /** Without `pretty`. */
  isPlain?: boolean;
}
