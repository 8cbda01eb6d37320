// The room's health part; reached through #component-base.
export {
  answerHealth,
  answerHealthCheck,
  type HealthAnswer,
  type HealthCheck,
  type HealthEndpoint,
  logCheck,
  pingCheck,
  routeHealth,
} from './health.ts';
export { sliMetrics } from './slis.ts';
