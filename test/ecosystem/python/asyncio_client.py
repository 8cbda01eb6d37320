"""The same in asyncio."""
import asyncio
import time

from kubernetes_asyncio import client, config, watch


async def main():
    await config.load_kube_config()
    async with client.ApiClient() as api:
        core = client.CoreV1Api(api)
        namespace = f"asyncio-{int(time.time())}"
        await core.create_namespace({"metadata": {"name": namespace}})
        await core.create_namespaced_pod(namespace, {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "nginx"}]}})
        async with watch.Watch() as watcher:
            async for event in watcher.stream(core.list_namespaced_pod, namespace, timeout_seconds=60):
                if event["object"].status.phase == "Running":
                    break
            else:
                raise AssertionError("the pod did not run")
        await core.delete_namespaced_pod("p", namespace, grace_period_seconds=0)
        await core.delete_namespace(namespace)


asyncio.run(main())
print("ok")
