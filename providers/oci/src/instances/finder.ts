// The instance behind a Node: by the OCID in its provider ID; else by its name, or by the host name or an address of one of its VNICs.
import type { Clock, Node } from 'sagong/cloud-provider';
import { createCache } from 'sagong/cloud-provider/kit';
import type { ApiClient } from '../api/client.ts';
import { type CoreApi, coreApi } from '../api/core.ts';
import type { Instance, Subnet, Vnic, VnicAttachment } from '../api/types.ts';
import type { Settings } from '../config/settings.ts';
import { attachmentsTtlMs } from '../limits.ts';
import { compartmentAnnotation, ocidOf } from '../names.ts';
import type { Subnets } from '../subnets.ts';

export interface Finder {
  /** The instance behind a Node, or undefined. Throws for a Node of another cloud. */
  ofNode(node: Node, signal?: AbortSignal): Promise<Instance | undefined>;
  /** VNICs that are attached, the primary one first. */
  vnicsOf(instance: Pick<Instance, 'id' | 'compartmentId'>, signal?: AbortSignal): Promise<Vnic[]>;
  /** The subnets that nodes are in, each once. Nodes whose instance is gone are in none. */
  subnetsOf(nodes: readonly Node[], signal?: AbortSignal): Promise<Subnet[]>;
  /** The Nodes whose instance exists at this moment. */
  live(nodes: readonly Node[], signal?: AbortSignal): Promise<Node[]>;
}

export interface FinderDeps {
  client: ApiClient;
  settings: Settings;
  subnets: Subnets;
  clock: Clock;
}

const gone = ['TERMINATING', 'TERMINATED'];
export const isGone = ({ lifecycleState }: Instance): boolean => gone.includes(lifecycleState);

/** Whether a VNIC is known by the name of a Node. */
export function isNamed({ publicIp, privateIp, ipv6Addresses = [], hostnameLabel }: Vnic, name: string): boolean {
  if (publicIp === name || privateIp === name || ipv6Addresses[0] === name.replaceAll('-', ':')) return true;
  // A whole label: `node-1` is not `node-10`.
  return !!hostnameLabel && (name === hostnameLabel || name.startsWith(`${hostnameLabel}.`));
}

const only = (found: readonly Instance[], name: string): Instance | undefined => {
  if (found.length > 1) throw new Error(`too many instances returned for node name "${name}": ${found.length}`);
  return found[0];
};

const attached = ({ lifecycleState, vnicId }: VnicAttachment): boolean => lifecycleState === 'ATTACHED' && vnicId !== undefined;

async function vnicsIn(core: CoreApi, attachments: readonly VnicAttachment[]): Promise<Vnic[]> {
  const vnics: Vnic[] = [];
  for (const { vnicId = '' } of attachments.filter(attached)) {
    const vnic = await core.vnic(vnicId);
    if (vnic) vnics.push(vnic);
  }
  return vnics.toSorted((a, b) => Number(b.isPrimary ?? false) - Number(a.isPrimary ?? false));
}

export function createFinder({ client, settings, subnets, clock }: FinderDeps): Finder {
  const { vcn } = settings;
  /** All VNICs of a compartment in the VCN, by instance. */
  const vnics = createCache({
    clock,
    ttlMs: attachmentsTtlMs,
    async read(compartment, signal) {
      const core = coreApi(client, signal);
      const found: { instanceId: string; vnic: Vnic }[] = [];
      for (const attachment of (await core.attachments(compartment)).filter(attached)) {
        const vnic = await core.vnic(attachment.vnicId ?? '');
        if (!vnic?.subnetId) continue;
        if (vcn !== '' && (await subnets.get(vnic.subnetId, signal)).vcnId !== vcn) continue;
        found.push({ instanceId: attachment.instanceId, vnic });
      }
      return found;
    },
  });

  async function byName(node: Node, signal?: AbortSignal): Promise<Instance | undefined> {
    const { name = '' } = node.metadata;
    const core = coreApi(client, signal);
    const compartment = node.metadata.annotations?.[compartmentAnnotation] || settings.compartment;
    const named = (await core.instances(compartment, name)).filter((one) => one.displayName === name && !isGone(one));
    if (named.length > 0) return only(named, name);
    const ids = new Set(
      (await vnics.get(compartment, signal)).filter(({ vnic }) => isNamed(vnic, name)).map((one) => one.instanceId),
    );
    const instances = await Promise.all([...ids].map((id) => core.instance(id)));
    return only(instances.filter((one) => one !== undefined && !isGone(one)) as Instance[], name);
  }
  /** Of a Node's subnet, which does not change. */
  const homes = createCache({
    clock,
    ttlMs: attachmentsTtlMs,
    async read(id, signal): Promise<string | undefined> {
      const core = coreApi(client, signal);
      const instance = await core.instance(id);
      if (!instance || isGone(instance)) return undefined;
      const [primary] = await vnicsIn(core, await core.attachments(instance.compartmentId, id));
      return primary?.subnetId;
    },
  });
  return {
    async live(nodes, signal) {
      const core = coreApi(client, signal);
      const exists = async ({ spec }: Node): Promise<boolean> => {
        const instance = await core.instance(ocidOf(spec?.providerID) ?? '');
        return instance !== undefined && !isGone(instance);
      };
      const found = await Promise.all(nodes.map(async (node) => ((await exists(node)) ? [node] : [])));
      return found.flat();
    },
    async ofNode(node, signal) {
      const ocid = ocidOf(node.spec?.providerID);
      return ocid === undefined ? byName(node, signal) : coreApi(client, signal).instance(ocid);
    },
    async vnicsOf({ id, compartmentId }, signal) {
      const core = coreApi(client, signal);
      return vnicsIn(core, await core.attachments(compartmentId, id));
    },
    async subnetsOf(nodes, signal) {
      const ids = nodes.map(({ spec }) => ocidOf(spec?.providerID)).filter((id) => id !== undefined);
      const homesOf = await Promise.all([...new Set(ids)].map((id) => homes.get(id, signal)));
      return subnets.all([...new Set(homesOf.filter((id) => id !== undefined))].toSorted(), signal);
    },
  };
}
