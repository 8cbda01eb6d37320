// What a Node carries of its Linode beside the manager's own labels, kept up to date: the host that it runs on, and the addresses by which
// NodeBalancers reach it (linode-cloud-controller-manager node_controller.go). The controller `linode-node-metadata` of `--controllers`.
import { type CloudControllerDefinition, type CloudPlan, defineCloudController, type Node } from 'sagong/cloud-provider';
import type { Linode } from '../api/types.ts';
import { formatProviderId, linodeIdOf } from '../names.ts';
import type { Finder } from './finder.ts';

export const note = {
  hostUuid: 'node.k8s.linode.com/host-uuid',
  privateIp: 'node.k8s.linode.com/private-ip',
  publicIpv6: 'node.k8s.linode.com/public-ipv6',
} as const;

const nodes = { group: '', version: 'v1', resource: 'nodes' };

export interface NodeNotesDeps {
  finder: Finder;
  isPrivate(address: string): boolean;
  ttlMs: number;
}

/** The patch that makes the Node say what its Linode is; undefined: it does. What the Linode does not have is left as it is. */
export function notesPatch(node: Node, linode: Linode, isPrivate: (address: string) => boolean): object | undefined {
  const { labels = {}, annotations = {} } = node.metadata;
  const changed = (there: Record<string, string>, wanted: Record<string, string | null | undefined>) =>
    Object.fromEntries(Object.entries(wanted).filter(([key, value]) => value && there[key] !== value));
  const newLabels = changed(labels, { [note.hostUuid]: linode.host_uuid });
  const newAnnotations = changed(annotations, {
    [note.privateIp]: linode.ipv4.find(isPrivate),
    [note.publicIpv6]: linode.ipv6,
  });
  const providerID = node.spec?.providerID ? undefined : formatProviderId(linode.id);
  const metadata = {
    ...(Object.keys(newLabels).length > 0 && { labels: newLabels }),
    ...(Object.keys(newAnnotations).length > 0 && { annotations: newAnnotations }),
  };
  if (Object.keys(metadata).length === 0 && !providerID) return undefined;
  return { metadata, ...(providerID && { spec: { providerID } }) };
}

const isOurs = (node: Node): boolean => {
  try {
    linodeIdOf(node);
    return true;
  } catch {
    return false;
  }
};

/** The service account of the controller, and what it may do. */
export const nodeNotesAccount = 'linode-node-metadata';
export const nodeNotesRights = [{ apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'patch', 'watch'] }];

export function nodeNotes({ finder, isPrivate, ttlMs }: NodeNotesDeps): CloudControllerDefinition {
  const said = ({ metadata, spec }: Node): string =>
    JSON.stringify([
      spec?.providerID,
      metadata.labels?.[note.hostUuid],
      ...Object.values(note).map((key) => metadata.annotations?.[key]),
    ]);
  return defineCloudController<Node | undefined>({
    name: nodeNotesAccount,
    serviceAccount: nodeNotesAccount,
    for: { group: '', resource: 'nodes' },
    rights: nodeNotesRights,
    watches: [
      {
        resource: nodes,
        keys({ object, old, gone }) {
          const node = object as Node;
          if (gone || (old && said(old as Node) === said(node))) return [];
          return [node.metadata.name ?? ''];
        },
      },
    ],
    view: (key, cache) => cache.get<Node>(nodes, '', key),
    reconcile(node): CloudPlan {
      if (!node) return { effects: [], because: 'The Node is gone.' };
      if (!isOurs(node)) return { effects: [], because: 'The Node is of another cloud.' };
      return { effects: [{ op: 'action', name: 'compare', input: node }], requeueAfterMs: ttlMs };
    },
    actions: {
      async compare(input, signal) {
        const node = input as Node;
        const { name = '' } = node.metadata;
        const again = { requeueAfterMs: ttlMs };
        const linode = await finder.ofNode(node, signal);
        if (!linode) return { effects: [], ...again, because: 'There is no Linode for this Node.' };
        const body = notesPatch(node, linode, isPrivate);
        if (!body) return { effects: [], ...again, because: 'The Node says what its Linode is.' };
        const ref = { resource: nodes, namespace: '', name };
        return { effects: [{ op: 'patch', ref, type: 'application/merge-patch+json', body, goneIsDone: true }], ...again };
      },
    },
  });
}
