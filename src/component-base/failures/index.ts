// The room's part for components that fail; reached through #component-base.
export { bound, type Domain, domainName, domainOfNow, handStray, inDomain, noteCaught, ownProcess } from './domain.ts';
export {
  type ComponentFailure,
  type ComponentStatus,
  failureCounter,
  type Running,
  type RunOptions,
  type Supervised,
  Supervisor,
  type SupervisorDeps,
} from './supervisor.ts';
