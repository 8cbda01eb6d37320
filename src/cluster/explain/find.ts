// Which resource a user means by a word, as kubectl takes it: `deploy`, `Deployment`, `deployments.apps`, `deployments.v1.apps`, or a custom one.
import { builtinResources } from '#api';
import type { CustomResourceDefinition } from '#api/apiextensions/v1';
import type { ObjectId } from '#controller-runtime';
import { type Reader, resources } from './reader.ts';

export interface FoundResource {
  group: string;
  version: string;
  resource: string;
  kind: string;
  namespaced: boolean;
  /** Made by a CustomResourceDefinition. */
  custom: boolean;
}

interface Named extends FoundResource {
  words: readonly string[];
}

const builtins = (): Named[] =>
  builtinResources()
    .filter(({ subresource }) => subresource === '')
    .map(({ group, version, resource, singularName, kind, shortNames = [], namespaced }) => ({
      ...{ group, version, resource, kind: kind.kind, namespaced, custom: false },
      words: [resource, singularName, kind.kind.toLowerCase(), ...shortNames],
    }));

function customs(definitions: readonly CustomResourceDefinition[]): Named[] {
  return definitions.flatMap(({ spec }) => {
    const { plural, singular = '', kind, shortNames = [] } = spec.names;
    const version = spec.versions.find(({ served }) => served)?.name;
    if (version === undefined) return [];
    const words = [plural, singular, kind.toLowerCase(), ...(shortNames ?? [])].filter((word) => word !== '');
    const found = { group: spec.group, version, resource: plural, kind, namespaced: spec.scope === 'Namespaced', custom: true };
    return [{ ...found, words }];
  });
}

/** `group`: undefined for any. */
function among(all: readonly Named[], word: string): FoundResource | undefined {
  const [name = '', ...rest] = word.toLowerCase().split('.');
  const qualified = rest.join('.');
  const named = all.filter(({ words }) => words.includes(name));
  if (rest.length === 0) return named[0];
  return named.find(
    ({ group, version }) => qualified === group || qualified === `${version}.${group}` || (group === '' && qualified === version),
  );
}

/** The resource that a word names; undefined where none is served under it. */
export async function findResource(reader: Reader, word: string): Promise<FoundResource | undefined> {
  return among(builtins(), word) ?? among(customs(await reader.list<CustomResourceDefinition>(resources.definitions)), word);
}

/** The resource of an owner, or of any other reference by kind. */
export async function resourceOfKind(reader: Reader, kind: string, group: string): Promise<FoundResource | undefined> {
  const isIt = (one: FoundResource): boolean => one.kind === kind && one.group === group;
  return builtins().find(isIt) ?? customs(await reader.list<CustomResourceDefinition>(resources.definitions)).find(isIt);
}

/** The object that `deployment/web` means. Throws for a word that names no built-in resource. */
export function objectNamed(object: string, namespace: string): ObjectId {
  const slash = object.indexOf('/');
  const resource = among(builtins(), object.slice(0, Math.max(0, slash)));
  if (!resource) throw new Error(`name an object as kind/name, e.g. deployment/web, not ${JSON.stringify(object)}`);
  const name = object.slice(slash + 1);
  return { group: resource.group, resource: resource.resource, key: resource.namespaced ? `${namespace}/${name}` : name };
}
