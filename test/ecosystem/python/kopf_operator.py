"""An operator made with kopf: handlers for a resource of its own, a timer, a finalizer."""
import asyncio
import threading
import time

import kopf
from kubernetes import client, config

config.load_kube_config()
definition = {
    "metadata": {"name": "boats.kopf.example.com"},
    "spec": {
        "group": "kopf.example.com",
        "scope": "Namespaced",
        "names": {"plural": "boats", "singular": "boat", "kind": "Boat"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {"type": "object", "properties": {"sails": {"type": "integer"}}},
                            "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                        },
                    }
                },
            }
        ],
    },
}
client.ApiextensionsV1Api().create_custom_resource_definition(definition)
seen = {"created": 0, "updated": 0, "timer": 0, "deleted": 0}


@kopf.on.create("kopf.example.com", "v1", "boats")
def created(spec, **_):
    seen["created"] += 1
    return {"sails": spec["sails"]}


@kopf.on.update("kopf.example.com", "v1", "boats")
def updated(**_):
    seen["updated"] += 1


@kopf.timer("kopf.example.com", "v1", "boats", interval=0.5)
def ticked(**_):
    seen["timer"] += 1


@kopf.on.delete("kopf.example.com", "v1", "boats")
def deleted(**_):
    seen["deleted"] += 1


stop, ready = threading.Event(), threading.Event()
operator = threading.Thread(target=lambda: asyncio.run(kopf.operator(standalone=True, namespace="default", stop_flag=stop, ready_flag=ready)))
operator.start()
boats = client.CustomObjectsApi()
where = {"group": "kopf.example.com", "version": "v1", "namespace": "default", "plural": "boats"}


def until(what, condition, seconds=60):
    deadline = time.time() + seconds
    while not condition():
        assert time.time() < deadline, f"{what}: {seen}"
        time.sleep(0.1)


try:
    assert ready.wait(60)
    boats.create_namespaced_custom_object(body={"apiVersion": "kopf.example.com/v1", "kind": "Boat", "metadata": {"name": "a"}, "spec": {"sails": 2}}, **where)
    until("created", lambda: seen["created"] and seen["timer"])
    until("status", lambda: boats.get_namespaced_custom_object(name="a", **where).get("status", {}).get("created", {}).get("sails") == 2)
    boats.patch_namespaced_custom_object(name="a", body={"spec": {"sails": 3}}, **where)
    until("updated", lambda: seen["updated"])
    boats.delete_namespaced_custom_object(name="a", **where)
    until("deleted", lambda: seen["deleted"] and not boats.list_namespaced_custom_object(**where)["items"])
finally:
    stop.set()
    operator.join(30)
    client.ApiextensionsV1Api().delete_custom_resource_definition("boats.kopf.example.com")
print("ok")
