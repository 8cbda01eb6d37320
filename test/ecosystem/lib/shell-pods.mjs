// Pods of real nodes that run a shell, and one whose streams programs open. Their image is made here: none can be pulled.
import { loadImages } from './images.mjs';

export const shellImage = 'sagong.local/ecosystem:1';
export const container = (name, command, more = '') => `{name: ${name}, image: ${shellImage}, imagePullPolicy: Never, command: [sh, -c, ${JSON.stringify(command)}]${more}}`;

/** The image that `container` names is on the nodes. */
export const loadShell = (context) => loadImages(context, [{ reference: shellImage }]);

const pod = (name) => `apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - ${container('web', 'mkdir /w; echo served > /w/index.html; exec httpd -f -p 8080 -h /w')}
  - ${container('echo', 'while read -r line; do echo heard $line; done; exec sleep 100000', ', stdin: true')}
`;

/** A pod for the time of `use`: its container "web" answers HTTP on port 8080, "echo" repeats each line of its standard input after the word "heard". */
export async function withStreamsPod(context, name, use) {
  const { kubectl, apply } = context;
  await loadShell(context);
  await apply(pod(name));
  await kubectl('wait', '--for=condition=Ready', `pod/${name}`, '--timeout=120s');
  try {
    return await use(name);
  } finally {
    await kubectl('delete', 'pod', name, '--wait=false');
  }
}
