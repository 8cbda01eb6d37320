// What tests of several machines ask of a cluster, and what they run on its machines.
import { buildBusyboxImage } from '#cluster/images';
import { eventually } from '../cluster/harness.ts';
import type { TestMachine } from './machine-world.ts';

/** Resolves when these are the nodes of the cluster, all of them Ready. `list`: gives what `kubectl get nodes --no-headers` prints. */
export const nodesReady = (list: () => Promise<string>, names: readonly string[]): Promise<unknown> =>
  eventually(
    `nodes ${names.join(', ')} are Ready`,
    async () => {
      const lines = (await list()).trim().split('\n');
      const ready = lines.flatMap((line) => /^(\S+) +Ready[ ,]/.exec(line)?.[1] ?? []);
      return ready.sort().join() === [...names].sort().join() && lines.length === names.length;
    },
    120_000,
  );

/** An image with a shell, a web server and wget in the containerd of a node; `nodeDir`: where that keeps its files. */
export async function importBusybox(machine: TestMachine, nodeDir: string, reference: string): Promise<void> {
  await machine.copyIn(await buildBusyboxImage({ busyboxPath: '/bin/busybox', reference }), '/tmp/busybox.tar');
  await machine.sh(`ctr -a ${nodeDir}/containerd/containerd.sock -n k8s.io images import /tmp/busybox.tar`);
}

export const bigBytes = 2048 * 1024;
/** A web server on every node, and a Service for all of them: it says who it is and who asks, and has a small file and a large one. */
export const webServers = (image: string): string => `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - name: web
        image: ${image}
        imagePullPolicy: Never
        command: [sh, -c]
        args:
        - |
          mkdir -p /tmp/www/cgi-bin && cd /tmp/www
          printf '#!/bin/sh\\necho Content-Type: text/plain\\necho\\necho $NODE $REMOTE_ADDR\\n' > cgi-bin/who && chmod +x cgi-bin/who
          echo hello > index.html
          dd if=/dev/zero of=big bs=1024 count=${bigBytes / 1024} 2>/dev/null
          exec httpd -f -p 8080
        env: [{name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}
`;
