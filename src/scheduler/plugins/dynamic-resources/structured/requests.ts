// The requests of a claim, with the alternatives of each in one shape. Pure.
import type {
  CapacityRequirements,
  DeviceClass,
  DeviceRequest,
  DeviceSelector,
  DeviceTaint,
  DeviceToleration,
  ResourceClaim,
} from '#api/resource/v1';
import { toleratesDeviceTaint } from '#component-helpers/resourceclaim';
import type { Consumed } from './capacity.ts';
import { consume } from './capacity.ts';
import type { KnownDevice } from './devices.ts';
import type { Pool } from './pools.ts';
import { AllocationError, selectorsMatch } from './selectors.ts';

/** One way to satisfy a request: the request itself, or one of its alternatives. */
export interface Option {
  /** `request`, or `request/alternative`. */
  readonly name: string;
  readonly class: DeviceClass;
  readonly selectors: readonly DeviceSelector[];
  readonly isAdmin: boolean;
  readonly tolerations: readonly DeviceToleration[] | undefined;
  readonly capacity: CapacityRequirements | undefined;
  /** How many devices; of `every` all that match, which are these. */
  readonly count: number;
  readonly every?: readonly KnownDevice[];
}

export interface WantedClaim {
  readonly claim: ResourceClaim;
  /** For each request its options, the best first. */
  readonly requests: readonly (readonly Option[])[];
}

export type Classes = (name: string) => DeviceClass | undefined;
export const claimText = ({ metadata }: ResourceClaim): string => `claim ${metadata.namespace}/${metadata.name}`;

type Exact = NonNullable<DeviceRequest['exactly']>;

/** Whether a request can have a device at all: chosen by class and request, and with capacity for it. */
export const isSelectable = (option: Omit<Option, 'count'>, device: KnownDevice, claim: ResourceClaim): boolean =>
  selectorsMatch(option.class.spec.selectors, device, `class ${option.class.metadata.name}`) &&
  selectorsMatch(option.selectors, device, claimText(claim));

const nothing: Consumed = new Map();

function everyDevice(option: Omit<Option, 'count'>, pools: readonly Pool[], claim: ResourceClaim): KnownDevice[] {
  const where = `${claimText(claim)}, request ${option.name.split('/').at(-1)}`;
  return pools.flatMap(({ id, problem, devices }) => {
    if (problem !== undefined) {
      const state = problem === 'incomplete' ? 'currently being updated' : 'currently invalid';
      throw new AllocationError(`${where}: asks for all devices, but resource pool ${id} is ${state}`);
    }
    return devices.filter(
      (one) => isSelectable(option, one, claim) && consume(one.device, option.capacity, nothing) !== undefined,
    );
  });
}

function optionOf(name: string, exact: Exact, claim: ResourceClaim, pools: readonly Pool[], classes: Classes): Option {
  const where = `${claimText(claim)}, request ${name.split('/').at(-1)}`;
  const deviceClass = classes(exact.deviceClassName);
  if (deviceClass === undefined)
    throw new AllocationError(
      `${where}: could not retrieve device class ${exact.deviceClassName}: deviceclass.resource.k8s.io "${exact.deviceClassName}" not found`,
    );
  const option = {
    name,
    class: deviceClass,
    selectors: exact.selectors ?? [],
    isAdmin: exact.adminAccess === true,
    tolerations: exact.tolerations,
    capacity: exact.capacity,
  };
  const mode = exact.allocationMode ?? 'ExactCount';
  if (mode === 'ExactCount') return { ...option, count: exact.count ?? 1 };
  if (mode !== 'All') throw new AllocationError(`${where}: unsupported count mode ${mode}`);
  const every = everyDevice(option, pools, claim);
  return { ...option, count: every.length, every };
}

/** The requests of a claim for one node. Throws `AllocationError` where none of them can be understood or judged. */
export function wantedOf(claim: ResourceClaim, pools: readonly Pool[], classes: Classes): WantedClaim {
  const requests = (claim.spec.devices?.requests ?? []).map(({ name, exactly, firstAvailable = [] }) =>
    exactly === undefined
      ? firstAvailable.map((one) => optionOf(`${name}/${one.name}`, one, claim, pools, classes))
      : [optionOf(name, exactly, claim, pools, classes)],
  );
  return { claim, requests };
}

const keepsAway = ({ effect }: DeviceTaint): boolean => effect === 'NoExecute' || effect === 'NoSchedule';

/** Whether a taint of the device keeps the request from it. */
export const isTaintedFor = ({ device }: KnownDevice, { tolerations = [] }: Option): boolean =>
  (device.taints ?? []).some((taint) => keepsAway(taint) && !tolerations.some((one) => toleratesDeviceTaint(one, taint)));
