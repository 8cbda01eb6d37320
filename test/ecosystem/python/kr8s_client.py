"""kr8s: objects that know their API."""
import time

import kr8s
from kr8s.objects import Deployment, Namespace, Pod

namespace = f"kr8s-{int(time.time())}"
Namespace({"metadata": {"name": namespace}}).create()
labels = {"app": "web"}
deployment = Deployment(
    {
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "web", "image": "nginx"}]}},
        },
    }
)
deployment.create()
deployment.wait("condition=Available", timeout=60)
deployment.scale(2)
deployment.wait("jsonpath='{.status.readyReplicas}'=2", timeout=60)
pods = list(kr8s.get("pods", namespace=namespace, label_selector=labels))
assert len(pods) == 2, pods
deployment.patch({"metadata": {"annotations": {"a": "b"}}})
assert Deployment.get("web", namespace=namespace).annotations["a"] == "b"
pod = Pod({"metadata": {"name": "p", "namespace": namespace}, "spec": {"containers": [{"name": "c", "image": "nginx"}]}})
pod.create()
pod.wait("condition=Ready", timeout=60)
pod.delete()
Namespace.get(namespace).delete()
print("ok")
