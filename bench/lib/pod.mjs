// The pod that the benches of requests write: a Deployment's, with the fields that most pods have.
/** The JSON text of a Pod with this name and these labels. */
export const podText = (name, labels = { app: 'web', 'pod-template-hash': 'abcdef' }) =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels },
    spec: {
      automountServiceAccountToken: false,
      containers: [
        {
          name: 'web',
          image: 'registry.k8s.io/pause:3.10',
          ports: [{ containerPort: 80, name: 'http' }],
          env: [
            { name: 'A', value: '1' },
            { name: 'B', value: '2' },
          ],
          resources: { requests: { cpu: '100m', memory: '64Mi' } },
          readinessProbe: { httpGet: { path: '/', port: 'http' } },
        },
      ],
    },
  });
