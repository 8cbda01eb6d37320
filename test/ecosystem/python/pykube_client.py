"""pykube-ng: objects and queries."""
import time

import pykube

api = pykube.HTTPClient(pykube.KubeConfig.from_env())
namespace = f"pykube-{int(time.time())}"
pykube.Namespace(api, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}).create()
for name in ("a", "b"):
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace, "labels": {"n": name}}, "data": {"k": name}}
    pykube.ConfigMap(api, body).create()
found = list(pykube.ConfigMap.objects(api).filter(namespace=namespace, selector={"n__in": {"a", "c"}}))
assert [one.name for one in found] == ["a"], found
found[0].obj["data"]["k"] = "changed"
found[0].update()
assert pykube.ConfigMap.objects(api, namespace=namespace).get(name="a").obj["data"]["k"] == "changed"
pykube.Namespace.objects(api).get(name=namespace).delete()
print("ok")
