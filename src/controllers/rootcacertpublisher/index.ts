// Publishes the cluster's certificate authority to every namespace, so that pods can verify the apiserver
// (pkg/controller/certificates/rootcacertpublisher).
import type { ConfigMap, Namespace } from '#api/core/v1';
import { type ControllerDefinition, defineController, watch } from '#controller-runtime';
import { configMaps, namespaces } from '#controller-runtime/platform';
import { allow, recordEvents } from '#controller-runtime/workload';
import { deepEqual } from '#utils';

export const rootCaConfigMap = 'kube-root-ca.crt';
const descriptionAnnotation = 'kubernetes.io/description';
const description =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.';

interface View {
  namespace: Namespace | undefined;
  configMap: ConfigMap | undefined;
}

export const rootCaCertPublisher = (rootCa: string): ControllerDefinition =>
  defineController<View>({
    name: 'root-ca-certificate-publisher-controller',
    aliases: ['root-ca-cert-publisher'],
    for: namespaces,
    serviceAccount: 'root-ca-cert-publisher',
    rights: [allow('create,update', 'core', 'configmaps'), recordEvents],
    watches: [
      watch<Namespace>({
        resource: namespaces,
        keys: ({ metadata, status }) => (rootCa !== '' && status?.phase === 'Active' ? [metadata.name ?? ''] : []),
      }),
      watch<ConfigMap>({
        resource: configMaps,
        keys: ({ metadata }) => (rootCa !== '' && metadata.name === rootCaConfigMap ? [metadata.namespace ?? ''] : []),
      }),
    ],
    view: (key, cache) => ({
      namespace: cache.get<Namespace>(namespaces, '', key),
      configMap: cache.get<ConfigMap>(configMaps, key, rootCaConfigMap),
    }),
    reconcile({ namespace, configMap }) {
      if (namespace?.status?.phase !== 'Active') return { effects: [] };
      const data = { 'ca.crt': rootCa };
      const because = 'Pods verify the apiserver with this certificate authority.';
      if (!configMap) {
        const metadata = {
          name: rootCaConfigMap,
          namespace: namespace.metadata.name ?? '',
          annotations: { [descriptionAnnotation]: description },
        };
        const object: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
        return { effects: [{ op: 'create', resource: configMaps, object }], because };
      }
      const { metadata } = configMap;
      if (deepEqual(configMap.data, data) && (metadata.annotations?.[descriptionAnnotation] ?? '') !== '') return { effects: [] };
      const annotations = { ...metadata.annotations, [descriptionAnnotation]: description };
      const object: ConfigMap = { ...configMap, metadata: { ...metadata, annotations }, data };
      return { effects: [{ op: 'update', resource: configMaps, object }], because };
    },
  });
