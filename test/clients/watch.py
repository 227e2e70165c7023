"""Watches ConfigMaps with the official Python client, makes one at a time, and prints how many seconds each took to be seen.

watch.py KUBECONFIG COUNT
"""

import sys
import threading
import time

from kubernetes import client, config, watch

config.load_kube_config(config_file=sys.argv[1])
count = int(sys.argv[2])
made = {}
seen = threading.Semaphore(0)


def make():
    for i in range(count):
        seen.acquire()
        made[f"python-{i}"] = time.monotonic()
        # A connection of its own: the watch stays as quiet as it is.
        client.CoreV1Api(client.ApiClient()).create_namespaced_config_map(
            "default", client.V1ConfigMap(metadata=client.V1ObjectMeta(name=f"python-{i}"))
        )


threading.Thread(target=make, daemon=True).start()
api = client.CoreV1Api(client.ApiClient())
start = api.list_namespaced_config_map("default").metadata.resource_version
# The watch itself has begun before the first object is made, or replays it: either way it is quiet until then.
seen.release()
for event in watch.Watch().stream(
    api.list_namespaced_config_map, "default", resource_version=start, timeout_seconds=30
):
    name = event["object"].metadata.name
    if name not in made:
        continue
    print(f"{time.monotonic() - made[name]:.3f}", flush=True)
    if len(made) == count:
        break
    seen.release()
