// Volumes for claims as directories of nodes: an external provisioner like Rancher's local-path-provisioner, which kind and k3s bring along.
export { localPathProvisioner } from './controller.ts';
export { directories, noDirectories, type Volumes } from './directories.ts';
export { type LocalPathConfig, provisionerName } from './reconcile/names.ts';
