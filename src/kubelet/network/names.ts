// Host name and domain of a pod (upstream kubelet_pods.go GeneratePodHostNameAndDomain).
import type { Pod } from '#api/core/v1';
import { quote } from '#utils';

const labelLengthMax = 63;
const kernelNameLengthMax = 64;

export interface PodNames {
  hostname: string;
  /** '' unless the pod has a subdomain. */
  domain: string;
  /** The host name that the kernel gets. */
  kernelName: string;
}

/** Throws an Error when the name does not fit the kernel. */
export function podNames(pod: Pod, clusterDomain: string): PodNames {
  const { hostname = '', subdomain = '', setHostnameAsFQDN, hostnameOverride } = pod.spec ?? {};
  if (hostnameOverride !== undefined) return { hostname: hostnameOverride, domain: '', kernelName: hostnameOverride };
  const short = hostname || (pod.metadata.name ?? '').slice(0, labelLengthMax).replace(/[-.]+$/, '');
  const domain = subdomain === '' ? '' : `${subdomain}.${pod.metadata.namespace ?? ''}.svc.${clusterDomain}`;
  const kernelName = setHostnameAsFQDN && domain !== '' ? `${short}.${domain}` : short;
  if (kernelName.length > kernelNameLengthMax)
    throw new Error(
      `failed to construct FQDN from pod hostname and cluster domain, FQDN ${kernelName} is too long (${kernelNameLengthMax} characters is the max, ${kernelName.length} characters requested): ${quote(kernelName)}`,
    );
  return { hostname: short, domain, kernelName };
}
