// Public addresses for vendors who give one before there is a load balancer at it, or who tell it in the answer to the request that makes one: some are had in
// advance. They are known by a tag; what nobody holds after a change goes back.
import type { VendorEmulation } from '#cloud-provider/emulator';
import { type CloudClient, listAll } from '../../client/index.ts';
import type { Address } from '../../model/index.ts';
import { spareAddresses } from './limits.ts';

const tag = 'sagong.dev/emulated';
const isUsed = ({ interfaceId, loadBalancerId }: Address): boolean => (interfaceId ?? loadBalancerId) !== undefined;

export class AddressStock {
  readonly #cloud: CloudClient;
  readonly #vendor: string;

  constructor(cloud: CloudClient, vendor: string) {
    this.#cloud = cloud;
    this.#vendor = vendor;
  }
  async #spare(held: readonly string[]): Promise<Address[]> {
    const all = await listAll((page) => this.#cloud.listAddresses({ tags: { [tag]: this.#vendor }, ...page }));
    return all.filter((address) => !isUsed(address) && !held.includes(address.publicAddress));
  }
  /** Tells the emulator which addresses it may give; called before each of its changes. */
  async offer(emulation: VendorEmulation): Promise<void> {
    if (!emulation.setFreeAddresses) return;
    const spare = await this.#spare(emulation.addresses?.() ?? []);
    while (spare.length < spareAddresses) spare.push(await this.#cloud.allocateAddress({ tags: { [tag]: this.#vendor } }));
    emulation.setFreeAddresses(spare.map(({ publicAddress }) => publicAddress));
  }
  /** Releases, after a change, the addresses that no resource of the emulated cloud uses any more. */
  async trim(emulation: VendorEmulation): Promise<void> {
    if (!emulation.setFreeAddresses) return;
    const spare = await this.#spare(emulation.addresses?.() ?? []);
    for (const { id } of spare.slice(spareAddresses)) await this.#cloud.releaseAddress({ addressId: id });
  }
}
