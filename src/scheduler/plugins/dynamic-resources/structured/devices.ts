// Devices by name, and what is known about them. Pure.
import type { Device, DeviceAttribute, ResourceSlice } from '#api/resource/v1';

/** `driver/pool/device`: names have no slashes but those of a pool, and a device's name has none, so no two devices share it. */
export type DeviceId = string;

export const deviceId = (driver: string, pool: string, device: string): DeviceId => `${driver}/${pool}/${device}`;

/** A device of a pool, with the slice that published it. */
export interface KnownDevice {
  readonly id: DeviceId;
  readonly device: Device;
  readonly slice: ResourceSlice;
}

/** An attribute by its full name; those of the driver's own domain are published without it. */
export function attributeOf({ device, slice }: KnownDevice, name: string): DeviceAttribute | undefined {
  const attributes = device.attributes ?? {};
  if (Object.hasOwn(attributes, name)) return attributes[name];
  const slash = name.indexOf('/');
  if (slash < 0 || name.slice(0, slash) !== slice.spec.driver) return undefined;
  const own = name.slice(slash + 1);
  return Object.hasOwn(attributes, own) ? attributes[own] : undefined;
}

/** The one value of an attribute, as text with its type: equal texts are equal values. Undefined for lists. */
export function attributeText(attribute: DeviceAttribute | undefined): string | undefined {
  for (const kind of ['string', 'int', 'bool', 'version'] as const) {
    const value = attribute?.[kind];
    if (value !== undefined) return `${kind}:${value}`;
  }
  return undefined;
}
