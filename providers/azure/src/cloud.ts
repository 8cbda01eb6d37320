// What every part of the provider works with.
import type { Clock, Logger } from 'sagong/cloud-provider';
import type { Arm } from './api/arm.ts';
import type { ObserveOperation } from './api/metrics.ts';
import type { Finder } from './instances/finder.ts';
import type { Inventory } from './instances/inventory.ts';
import type { Claims } from './load-balancer/claims.ts';
import type { Settings } from './settings.ts';
import type { Stores } from './stores.ts';

export interface Cloud {
  arm: Arm;
  stores: Stores;
  settings: Settings;
  finder: Finder;
  inventory: Inventory;
  claims: Claims;
  observe: ObserveOperation;
  clock: Clock;
  logger: Logger;
}
