// The base of servers that speak a vendor's API, for the tests of its provider. Public: `import ... from 'sagong/cloud-provider/test-server'`.
export { type HastyClock, hastyClock, type ManualClock, manualClock } from './clock.ts';
export { silentLogger, type TestCluster, testCluster, testService, testServiceUid } from './cluster.ts';
export { refusalOfShape } from './dispatch.ts';
export { everyFifth, type FaultRates, type FaultRule, Faults, noRates } from './faults.ts';
export { LaggingMap } from './lagging-map.ts';
export { type Operation, Operations, type OperationsOptions } from './operations.ts';
export { pageByNumber, pageByToken } from './pages.ts';
export { type Handler, Refusal, type VendorAnswer, type VendorApi, type VendorRequest } from './request.ts';
export type { Routes } from './routing.ts';
export { type Door, startVendorServer, type VendorServer, type VendorServerOptions } from './server.ts';
export {
  openProviderWorld,
  type ProviderWorld,
  rejection,
  type TestHooks,
  useLoadBalancers,
  type WorldParts,
} from './world.ts';
export { seededRng } from '#utils';
