// Which Linodes are Nodes of this cluster. A VPC may be shared: ranges of Linodes that never were Nodes here are not this cluster's routes.
import { type CloudInformers, instanceIdOf, type Node } from 'sagong/cloud-provider';
import { providerName } from '../names.ts';

export interface KnownNodes {
  watch(informers: CloudInformers): void;
  get(name: string): Node | undefined;
  podCidrs(name: string): readonly string[];
  /** The name of a Linode's Node. Undefined when the Linode is not a node of this cluster. Without informers, its label is taken for the name. */
  nameOf(linode: number, label: string | undefined): string | undefined;
}

const nodes = { group: '', version: 'v1', resource: 'nodes' };

export function createKnownNodes(): KnownNodes {
  let lister: { get(namespace: string, name: string): Node | undefined } | undefined;
  /** By Linode, also after the Node was deleted: its routes are to go. */
  const names = new Map<number, string>();
  function note({ metadata, spec }: Node): void {
    const id = Number(instanceIdOf(providerName, spec?.providerID));
    if (Number.isSafeInteger(id) && metadata.name) names.set(id, metadata.name);
  }
  return {
    watch(informers) {
      const informer = informers.informer<Node>(nodes);
      ({ lister } = informer);
      informer.addHandler({ onAdd: note, onUpdate: note });
    },
    get: (name) => lister?.get('', name),
    podCidrs: (name) => lister?.get('', name)?.spec?.podCIDRs ?? [],
    nameOf(linode, label) {
      if (!lister) return label;
      const noted = names.get(linode);
      if (noted !== undefined) return noted;
      return label !== undefined && lister.get('', label) ? label : undefined;
    },
  };
}
