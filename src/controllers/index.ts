// The list of control loops: one import and one entry per folder (test/component compares them).
import type { ControllerDefinition } from '#controller-runtime';
import type { ControllersConfig } from './config.ts';
import { deploymentController } from './deployment/index.ts';
import { replicaSetController } from './replicaset/index.ts';
import { replicationController } from './replicationcontroller/index.ts';

export { type ControllersConfig, defaultControllersConfig } from './config.ts';

/** A view is only ever given to the reconcile of its own loop. */
const erase = <View>(definition: ControllerDefinition<View>): ControllerDefinition =>
  definition as unknown as ControllerDefinition;

/** All loops of kube-controller-manager. */
export const createControllers = (_config: ControllersConfig): ControllerDefinition[] => [
  erase(deploymentController),
  erase(replicaSetController),
  erase(replicationController),
];
