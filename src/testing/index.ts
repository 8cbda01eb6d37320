// What users import in their tests, and what the project's own simulations are made of.
export { type TestControlPlane, type TestControlPlaneOptions, startTestControlPlane } from './control-plane.ts';
export { type VirtualClock, type VirtualClockOptions, virtualClock } from './virtual-clock.ts';
export type { ApiFault, ApiFaultFilter, ApiFaultRule, ApiVerb, InjectedFault } from './api-faults.ts';
export type { ApiFaults } from './api-gate.ts';
export type { GivenCloudProvider, TestCloud, TestCloudOptions } from './cloud.ts';
export type { TestNodes } from './nodes.ts';
export type { ClusterSnapshot } from './snapshot.ts';
export type { ComponentFailure } from '#component-base/failures';
export { type StartClusterOptions, startCluster, type TestClient, type TestCluster } from './start-cluster.ts';
export { type FaultInjector, type FaultRates, injectFaults, noApiFaults } from './faults.ts';
