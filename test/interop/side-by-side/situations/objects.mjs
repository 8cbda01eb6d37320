// Objects that the situations are made of.

export const configMap = (name, more = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...more.metadata }, data: { a: '1', ...more.data } });

export const podSpec = (more = {}) => ({ automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i', ...more }] });

export const pod = (name, { metadata = {}, container = {}, spec = {} } = {}) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name, ...metadata }, spec: { ...podSpec(container), ...spec } });

export const deployment = (name, { replicas = 1, container = {}, metadata = {} } = {}) => ({
  ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, ...metadata } },
  spec: { replicas, selector: { matchLabels: { app: name } }, template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image: 'i', ...container }] } } },
});

export const service = (name, more = {}) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { ports: [{ name: 'http', port: 80 }], ...more } });

export const claim = (name, storage = '1Gi', more = {}) => ({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } }, ...more } });

export const patchTypes = { merge: 'application/merge-patch+json', json: 'application/json-patch+json', strategic: 'application/strategic-merge-patch+json', apply: 'application/apply-patch+yaml' };
export const tables = { Table: 'application/json;as=Table;g=meta.k8s.io;v=v1', Metadata: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1', MetadataList: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' };

/** Asks again until both answer so; false when they never do. */
export async function until(ask, wanted, tries = 60) {
  for (let left = tries; left > 0; left -= 1) {
    if ((await ask()).every(wanted)) return true;
    await new Promise((resume) => setTimeout(resume, 100));
  }
  return false;
}
