// The version whose behaviour this build has, and this build's own (k8s.io/component-base/version). Pure.

export const kubernetesVersion = { major: '1', minor: '36', patch: '2' };
export const sagongVersion = '0.1.0';

/**
 * The version that all components tell: `v1.36.2+sagong.0.1.0`. What follows the `+` is build metadata, which every comparison of versions
 * ignores.
 */
export const gitVersion = `v${kubernetesVersion.major}.${kubernetesVersion.minor}.${kubernetesVersion.patch}+sagong.${sagongVersion}`;
