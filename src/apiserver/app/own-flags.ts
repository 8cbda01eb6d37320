// Flags of kube-apiserver that are ours: upstream's has neither metrics of kubelets nor what loops decided.
import { flag } from '#component-base';

const section = 'Sagong';

export const ownFlags = {
  metricsFromKubelets: flag.bool({
    name: 'metrics-from-kubelets',
    default: false,
    help: 'Serve metrics.k8s.io out of what kubelets say, until an APIService with a Service takes it over.',
    section,
  }),
  decisionsFrom: flag.strings({
    name: 'decisions-from',
    default: [],
    help: 'Managers and schedulers of this machine, https://host:port, that /debug/decisions asks what they decided, with --proxy-client-cert-file; other apiservers of the cluster are asked for theirs.',
    section,
  }),
};
