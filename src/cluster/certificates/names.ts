// Names of a cluster's certificates that others know them by. Pure.

/** File name and common name of the authority of kubelets. */
export const kubeletAuthorityName = 'kubelet-serving-ca';
