// Assembly: a whole cluster from the rooms, on this machine.
export { dataDirOf, clusterPaths } from './paths.ts';
export { createProgress, type Progress } from './progress.ts';
export { down, stop } from './down.ts';
export { readRunState, runningProcess, runStatePath, type RunState, writeRunState } from './run-state.ts';
export { loadSettings, type ClusterSettings, type RuntimeChoice } from './settings.ts';
export { up, type RunningCluster, type UpOptions } from './up.ts';
export { startControlPlane, type ControlPlane } from './control-plane.ts';
export { identities, type Identity } from './identities.ts';
export { ephemeralPki, openPki } from './certificates.ts';
export { isNodeReady, waitFor } from './wait.ts';
export { startSimulatedNodes, type SimulatedNodes } from './simulated-nodes.ts';
export type { NodeAgentConfig } from './node-agent-config.ts';
export { runNodeAgent } from './nodes/agent.ts';
export { runDemo, type DemoOptions } from './demo.ts';
export { askForExplanation, type Explained, explain, explanationText } from './explain.ts';
export { loadImage } from './load-image.ts';
export { clusterStatus, summary } from './summary.ts';
