"""The official client: typed and dynamic, watches, patches of each kind, scale, logs."""
import time

from kubernetes import client, config, dynamic, watch
from kubernetes.client.rest import ApiException

config.load_kube_config()
core, apps = client.CoreV1Api(), client.AppsV1Api()
namespace = f"python-{int(time.time())}"
core.create_namespace({"metadata": {"name": namespace}})
labels = {"app": "web"}
deployment = {
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "web", "image": "nginx"}]}},
    },
}
apps.create_namespaced_deployment(namespace, deployment)
for event in watch.Watch().stream(apps.list_namespaced_deployment, namespace, timeout_seconds=60):
    if (event["object"].status.available_replicas or 0) == 2:
        break
else:
    raise AssertionError("the deployment did not become available")
pods = core.list_namespaced_pod(namespace, label_selector="app=web").items
assert len(pods) == 2 and all(pod.status.phase == "Running" for pod in pods)
apps.patch_namespaced_deployment_scale("web", namespace, {"spec": {"replicas": 1}})
assert apps.read_namespaced_deployment_scale("web", namespace).spec.replicas == 1
core.create_namespaced_config_map(namespace, {"metadata": {"name": "c"}, "data": {"a": "1"}})
patched = core.patch_namespaced_config_map("c", namespace, [{"op": "add", "path": "/data/b", "value": "2"}])
assert patched.data == {"a": "1", "b": "2"}, patched.data
core.create_namespaced_config_map(namespace, {"metadata": {"name": "d"}})
page = core.list_namespaced_config_map(namespace, limit=1)
rest = core.list_namespaced_config_map(namespace, limit=10, _continue=page.metadata._continue)
assert len(page.items) == 1 and {"c", "d"} <= {one.metadata.name for one in page.items + rest.items}
dynamic_client = dynamic.DynamicClient(client.ApiClient())
services = dynamic_client.resources.get(api_version="v1", kind="Service")
body = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"selector": labels, "ports": [{"port": 80}]}}
applied = services.server_side_apply(body=body, name="s", namespace=namespace, field_manager="python")
assert applied.spec.clusterIP and applied.metadata.managedFields[0].operation == "Apply"
try:
    core.read_namespaced_secret("absent", namespace)
    raise AssertionError("an absent secret was read")
except ApiException as error:
    assert error.status == 404 and '"reason":"NotFound"' in error.body.replace(" ", "").replace("\n", ""), error.body
client.VersionApi().get_code()
core.delete_namespace(namespace)
print("ok")
