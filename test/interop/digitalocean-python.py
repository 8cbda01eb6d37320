# DigitalOcean's own Python client (pydo) through the life of a load balancer, a certificate, a firewall and a tag. Prints what it saw as JSON.
import json
import sys

from azure.core.exceptions import HttpResponseError
from azure.core.pipeline.policies import HeadersPolicy
from pydo import Client

url, token = sys.argv[1:]
seen = {}


def client_with(secret):
    """The client sends no token without TLS by itself."""
    sent = HeadersPolicy({"Authorization": f"Bearer {secret}"})
    return Client(token=secret, endpoint=url, authentication_policy=sent)


client = client_with(token)


def refusal(call):
    """The status of a refusal, and the API's word for it."""
    try:
        call()
        return "nothing"
    except HttpResponseError as error:
        return [error.status_code, json.loads(error.response.text())["id"]]


def page(number):
    return client.droplets.list(per_page=20, page=number)


first = page(1)
seen["paged"] = [len(first["droplets"]), len(page(2)["droplets"]), first["meta"]["total"], "next" in first["links"]["pages"]]
seen["named"] = [one["name"] for one in client.droplets.list(name="node-7")["droplets"]]
droplet = client.droplets.get(droplet_id=first["droplets"][0]["id"])["droplet"]
seen["droplet"] = [droplet["status"], droplet["size_slug"], droplet["region"]["slug"]]
# A 404 is an answer to this client, not an error.
seen["absent"] = client.droplets.get(droplet_id=999999)["id"]
seen["unauthorized"] = refusal(lambda: client_with("wrong").load_balancers.list())
seen["regions"] = [one["slug"] for one in client.regions.list()["regions"]]

request = {
    "name": "web",
    "region": "nyc3",
    "droplet_ids": [one["id"] for one in first["droplets"][:2]],
    "forwarding_rules": [
        {"entry_protocol": "tcp", "entry_port": 80, "target_protocol": "tcp", "target_port": 30080},
    ],
    "health_check": {"protocol": "tcp", "port": 30080},
}
made = client.load_balancers.create(body=request)["load_balancer"]
seen["made"] = [made["name"], len(made["droplet_ids"]), made["algorithm"], made["forwarding_rules"][0]["entry_port"]]
got = client.load_balancers.get(lb_id=made["id"])["load_balancer"]
seen["got"] = [got["status"], got["ip"] != "", got["health_check"]["check_interval_seconds"]]
changed = client.load_balancers.update(lb_id=made["id"], body={**request, "droplet_ids": [], "size_unit": 2})["load_balancer"]
seen["changed"] = [changed["id"] == made["id"], changed["droplet_ids"], changed["size_unit"]]
seen["refused"] = refusal(lambda: client.load_balancers.create(body={**request, "name": "no rules", "forwarding_rules": []}))

client.tags.create(body={"name": "k8s"})
resource = {"resource_id": made["id"], "resource_type": "load_balancer"}
client.tags.assign_resources(tag_id="k8s", body={"resources": [resource]})
seen["tagged"] = client.load_balancers.get(lb_id=made["id"])["load_balancer"].get("tags", [])
firewall = client.firewalls.create(
    body={
        "name": "nodes",
        "tags": ["k8s"],
        "inbound_rules": [{"protocol": "tcp", "ports": "30080", "sources": {"addresses": ["0.0.0.0/0"]}}],
    }
)["firewall"]
seen["firewall"] = [firewall["name"], firewall["inbound_rules"][0]["ports"]]
client.firewalls.delete(firewall_id=firewall["id"])
seen["firewalls"] = len(client.firewalls.list()["firewalls"])
client.load_balancers.delete(lb_id=made["id"])
seen["deleted"] = client.load_balancers.get(lb_id=made["id"])["id"]
print(json.dumps(seen))
