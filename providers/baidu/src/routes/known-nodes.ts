// The Nodes of this cluster by their instances, also after a Node was deleted: its routes are to go.
import { type CloudInformers, instanceIdOf, type Node } from 'sagong/cloud-provider';
import { providerName } from '../names.ts';

export interface KnownNodes {
  watch(informers: CloudInformers): void;
  get(name: string): Node | undefined;
  /** The name of an instance's Node. Undefined when no Node of this instance was ever seen. */
  nameOf(instance: string): string | undefined;
}

const nodes = { group: '', version: 'v1', resource: 'nodes' };

export function createKnownNodes(): KnownNodes {
  let lister: { get(namespace: string, name: string): Node | undefined } | undefined;
  const names = new Map<string, string>();
  function note({ metadata, spec }: Node): void {
    const id = instanceIdOf(providerName, spec?.providerID);
    if (id && metadata.name) names.set(id, metadata.name);
  }
  return {
    watch(informers) {
      const informer = informers.informer<Node>(nodes);
      ({ lister } = informer);
      informer.addHandler({ onAdd: note, onUpdate: note });
    },
    get: (name) => lister?.get('', name),
    nameOf: (instance) => names.get(instance),
  };
}
