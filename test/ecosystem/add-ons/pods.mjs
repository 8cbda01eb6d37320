// Pods and Services that the add-ons are tried with.
import { loadImages } from '../lib/images.mjs';

const app = 'sagong.local/add-ons:1';

export const loadApp = (context) => loadImages(context, [{ reference: app }]);

export const nodesOf = async (kubectl) => (await kubectl('get', 'nodes', '-o', 'jsonpath={.items[*].metadata.name}')).split(' ');

/**
 * A pod that runs `command`, on a node or where it may, with a claim at /data. Without a grace period it would be gone from the API before its volumes are
 * unmounted, its claim could go at once, and a driver would be told to delete what the node still has.
 */
export const pod = (name, command, { node, claim } = {}) => {
  const mounts = claim ? { volumeMounts: [{ name: 'data', mountPath: '/data' }] } : {};
  const container = { name: 'app', image: app, imagePullPolicy: 'Never', command: ['sh', '-c', command], ...mounts };
  const volumes = claim ? [{ name: 'data', persistentVolumeClaim: { claimName: claim } }] : [];
  const spec = { ...(node && { nodeName: node }), terminationGracePeriodSeconds: 1, containers: [container], volumes };
  return JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name, labels: { app: name } }, spec });
};

/** A pod that answers HTTP with its name. */
export const web = (name, where) => pod(name, 'mkdir -p /w/sub && hostname > /w/index.html && cp /w/index.html /w/sub && exec httpd -f -h /w', where);

export const service = (name) =>
  JSON.stringify({ apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { selector: { app: name }, ports: [{ port: 80 }] } });
