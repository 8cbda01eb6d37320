// What people type, in an order in which each command builds on those before. `expects` are patterns of what it prints.
const manifest = (image, replicas) => `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "${image}"}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
`;

const step = (line, expects, more = {}) => ({ args: typeof line === 'string' ? line.split(' ') : line, expects: [expects].flat(), ...more });

const discovery = [
  step('version', [/Client Version: v1\.3\d/, /Server Version: v1\.36/]),
  step('cluster-info', /control plane.* is running at .*https:/),
  step('api-resources --namespaced=true -o wide', [/deployments\s+deploy\s+apps\/v1\s+true\s+Deployment\s+create,delete/, /categories|CATEGORIES/i]),
  step('api-versions', [/^apps\/v1$/m, /^v1$/m]),
  step('explain deployment.spec.strategy', [/KIND:\s+Deployment/, /rollingUpdate/]),
  step('explain pods --recursive --output=plaintext-openapiv2', /restartPolicy\s+<string>/),
  step('get --raw /readyz?verbose', /readyz check passed/),
  step('auth can-i create deployments', /^yes$/m),
  step('auth can-i --list', /\*\.\*/),
  step('auth whoami -o jsonpath={.status.userInfo.groups}', /system:authenticated/),
];

const writing = [
  step('apply -f web.yaml', [/deployment.apps\/web created/, /service\/web created/], { file: { name: 'web.yaml', text: manifest('nginx:1.26', 2) } }),
  step('rollout status deployment/web --timeout=60s', /successfully rolled out/),
  step('apply -f web.yaml', [/deployment.apps\/web unchanged/, /service\/web unchanged/]),
  step('diff -f web2.yaml', [/^-.*nginx:1\.26$/m, /^\+.*nginx:1\.27$/m], { fails: true, file: { name: 'web2.yaml', text: manifest('nginx:1.27', 2) } }),
  step('apply -f web2.yaml --dry-run=server', /deployment.apps\/web configured \(server dry run\)/),
  step('apply -f web2.yaml', /deployment.apps\/web configured/),
  step('rollout status deployment/web --timeout=60s', /successfully rolled out/),
  step('rollout history deployment/web', [/REVISION\s+CHANGE-CAUSE/, /^2\s/m]),
  step('rollout undo deployment/web', /rolled back/),
  step('get deployment web -o jsonpath={.spec.template.spec.containers[0].image}', /^nginx:1\.26$/),
  step('rollout restart deployment/web', /restarted/),
  step('rollout pause deployment/web', /paused/),
  step('rollout resume deployment/web', /resumed/),
  step('set image deployment/web web=nginx:1.28', /image updated/),
  step('set env deployment/web COLOUR=blue', /env updated/),
  step('set env deployment/web --list', /COLOUR=blue/),
  step('set resources deployment web --limits=cpu=200m,memory=64Mi', /resource requirements updated/),
  step('set serviceaccount deployment web default', /serviceaccount updated/),
  step('scale deployment/web --replicas=3', /scaled/),
  step('wait --for=jsonpath={.status.readyReplicas}=3 deployment/web --timeout=60s', /condition met/),
  step('wait --for=condition=Available deployment/web --timeout=60s', /condition met/),
  step('autoscale deployment web --min=1 --max=3 --cpu-percent=80', /autoscaled/),
  step('expose deployment web --name=web-2 --port=8080 --target-port=80', /service\/web-2 exposed/),
  step('create configmap settings --from-literal=a=1 --from-file=web.yaml', /configmap\/settings created/),
  step('create secret generic password --from-literal=word=hidden', /secret\/password created/),
  step('create job once --image=busybox -- true', /job.batch\/once created/),
  step('wait --for=condition=complete job/once --timeout=60s', /condition met/),
  step(['create', 'cronjob', 'often', '--image=busybox', '--schedule=*/5 * * * *', '--', 'true'], /cronjob.batch\/often created/),
  step('create job by-hand --from=cronjob/often', /job.batch\/by-hand created/),
  step('create role reader --verb=get,list --resource=pods', /role.*reader created/),
  step('create rolebinding reads --role=reader --serviceaccount=NAMESPACE:default', /created/),
  step('auth can-i list pods --as=system:serviceaccount:NAMESPACE:default', /^yes$/m),
  step('auth can-i delete pods --as=system:serviceaccount:NAMESPACE:default', /^no/m, { fails: true }),
  step('create token default --duration=10m', /^ey[\w-]+\.[\w-]+\.[\w-]+$/m),
  step('create ingress site --rule=example.com/*=web:80', /ingress.*site created/),
  step('create quota small --hard=configmaps=20', /resourcequota\/small created/),
  step('create poddisruptionbudget guard --selector=app=web --min-available=1', /created/),
  step('run single --image=nginx --labels=app=single --restart=Never --annotations=simulated.sagong.dev/run-for=1h', /pod\/single created/),
  step('wait --for=condition=Ready pod/single --timeout=60s', /condition met/),
];

const changing = [
  step('label pods -l app=single tier=front', /labeled/),
  step('label pods single tier-', /unlabeled/),
  step('annotate service web note=one', /annotated/),
  step('annotate service web note=two', /--overwrite is false/, { fails: true }),
  step(['patch', 'deployment', 'web', '-p', '{"spec":{"template":{"spec":{"containers":[{"name":"web","imagePullPolicy":"IfNotPresent"}]}}}}'], /patched/),
  step(['patch', 'service', 'web', '--type=json', '-p', '[{"op":"replace","path":"/spec/ports/0/port","value":81}]'], /patched/),
  step(['patch', 'configmap', 'settings', '--type=merge', '-p', '{"data":{"a":null,"b":"2"}}'], /patched/),
  step(['patch', 'deployment', 'web', '--subresource=scale', '--type=merge', '-p', '{"spec":{"replicas":3}}'], /patched/),
  step('get configmap settings -o jsonpath={.data.b}{.data.a}', /^2$/),
  step('edit configmap settings', /configmap\/settings edited/, { editor: `sed -i 's/"2"/"3"/'` }),
  step('get configmap settings -o jsonpath={.data.b}', /^3$/),
  step('apply --server-side --field-manager=one -f ssa.yaml', /serverside-applied/, {
    file: { name: 'ssa.yaml', text: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shared}\ndata: {a: one}\n' },
  }),
  step('apply --server-side --field-manager=two -f ssa2.yaml', [/conflict with "one"/, /\.data\.a/], {
    fails: true,
    file: { name: 'ssa2.yaml', text: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shared}\ndata: {a: two}\n' },
  }),
  step('apply --server-side --field-manager=two --force-conflicts -f ssa2.yaml', /serverside-applied/),
  step('get configmap shared -o yaml --show-managed-fields', [/manager: two/, /f:data/]),
  step('replace -f ssa2.yaml', /configmap\/shared replaced/),
  step('apply -f - --prune -l app=pruned --prune-allowlist=core/v1/ConfigMap', /configmap\/kept (created|unchanged)/, {
    input: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept, labels: {app: pruned}}\n',
  }),
  step('create -f bad.yaml', [/unknown field "spec.replica"/], { fails: true, file: { name: 'bad.yaml', text: manifest('nginx', 1).replace('replicas:', 'replica:') } }),
  step('create configmap settings', /already exists/, { fails: true }),
  step('apply -k .', /configmap\/made-[a-z0-9]+ created/, { file: { name: 'kustomization.yaml', text: 'configMapGenerator: [{name: made, literals: [a=1]}]\n' } }),
];

const reading = [
  step('get all', [/pod\/single\s+1\/1\s+Running/, /deployment.apps\/web\s+3\/3/, /cronjob.batch\/often/, /horizontalpodautoscaler/]),
  step('get pods -o wide --show-labels', [/NAME\s+READY\s+STATUS\s+RESTARTS\s+AGE\s+IP\s+NODE/, /sagong|node/]),
  step('get pods -A --field-selector=status.phase=Running --sort-by=.metadata.name', /NAMESPACE\s+NAME/),
  step('get pods single -o custom-columns=NAME:.metadata.name,PHASE:.status.phase --no-headers', /^single\s+Running$/m),
  step(['get', 'nodes', '-o', 'go-template={{range .items}}{{.metadata.name}} {{end}}'], /\S+ \S+/),
  step('get deploy,rs,svc -l app=web -o name', [/deployment.apps\/web/, /replicaset.apps\/web-/]),
  step('get events --field-selector=involvedObject.name=single', /Scheduled/),
  step('events --for pod/single', /Scheduled/),
  step('describe pod single', [/Node:\s+\S+\//, /Events:/, /Successfully assigned/]),
  step('describe deployment web', [/StrategyType:\s+RollingUpdate/, /NewReplicaSet:\s+web-/]),
  step('describe node', [/Allocated resources:/, /Capacity:/]),
  step('describe service web', [/Endpoints:/, /TargetPort:/]),
  step('describe secret password', /word:\s+6 bytes/),
  step('describe quota small', /configmaps\s+\d+\s+20/),
  step('describe hpa web', /Min replicas:\s+1/),
  step('describe ingress site', /example\.com/),
  step('top nodes', /CPU\(cores\)/),
  step('top pods', /single/),
  step('logs single', /^/),
  step('get pod nobody', /Error from server \(NotFound\): pods "nobody" not found/, { fails: true }),
  step('get pod nobody --ignore-not-found', /^$/),
];

const ending = [
  step('debug single --image=busybox --container=debugger', /^/),
  step('get pod single -o jsonpath={.spec.ephemeralContainers[0].name}', /^debugger$/),
  step('delete pod single --wait=false', /pod "single" deleted/),
  step('wait --for=delete pod/single --timeout=60s', /^/),
  step('delete configmap,secret --all', [/configmap "settings" deleted/, /secret "password" deleted/]),
  step('delete -f web2.yaml --cascade=foreground --timeout=60s', /deployment.apps "web" deleted/),
  step('delete job,cronjob,hpa,ingress,pdb,quota,role,rolebinding --all', /deleted/),
  step('get deployments', /No resources found/),
];

export const steps = [...discovery, ...writing, ...changing, ...reading, ...ending];
