// A web server that says who answers and whom it sees, and Services before it: what tests of packets run.

export const image = 'sagong.local/who:1';

/** A web server that says who answers and whom it sees. */
export const pod = (name: string, node: string, port = ''): string => `
apiVersion: v1
kind: Pod
metadata: {name: ${name}, labels: {app: who, name: ${name}}}
spec:
  nodeName: ${node}
  terminationGracePeriodSeconds: 1
  containers:
  - name: web
    image: ${image}
    imagePullPolicy: Never
    command: [sh, -c]
    args:
    - |
      mkdir -p /www/cgi-bin
      printf '#!/bin/sh\\necho Content-Type: text/plain\\necho\\necho "$(hostname) sees $REMOTE_ADDR"\\n' > /www/cgi-bin/who
      chmod +x /www/cgi-bin/who
      exec httpd -f -p 8080 -h /www
    ports: [{name: http, containerPort: 8080${port}}]
    readinessProbe: {httpGet: {path: /cgi-bin/who, port: http}, periodSeconds: 1}
---`;
export const service = (name: string, selector: string, spec = '', port = ''): string => `
apiVersion: v1
kind: Service
metadata: {name: ${name}}
spec:
  selector: ${selector}
  ports: [{name: http, port: 80, targetPort: 8080${port}}]
  ${spec}
---`;
