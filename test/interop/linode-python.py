# Linode's own Python client (linode_api4) through the life of a NodeBalancer, a firewall and a range in a VPC. Prints what it saw as JSON.
import json
import sys

from linode_api4 import Firewall, Instance, LinodeClient, NodeBalancer, VPC
from linode_api4.errors import ApiError

url, token, region = sys.argv[1:]
client = LinodeClient(token, base_url=url, page_size=25)
seen = {}


def refused(call):
    """The reason of a refusal that is about one field."""
    try:
        call()
        return "nothing"
    except ApiError as error:
        return error.errors[0]


def status_of(call):
    try:
        call()
        return 200
    except ApiError as error:
        return error.status


seen["paged"] = len([linode.label for linode in client.linode.instances()])
seen["filtered"] = [linode.label for linode in client.linode.instances(Instance.label == "node-7")]
seen["tagged"] = len(client.linode.instances(Instance.tags.contains("nodes")))
first = client.linode.instances(Instance.label == "node-0")[0]
second = client.linode.instances(Instance.label == "node-1")[0]
seen["node"] = [first.status, first.type.id, first.region.id]
seen["absent"] = status_of(lambda: client.load(NodeBalancer, 1))
seen["unauthorized"] = status_of(lambda: LinodeClient("wrong", base_url=url).nodebalancers())

vpc = client.vpcs(VPC.label == "k8s")[0]
addresses = [ip for ip in vpc.ips if ip.address]
seen["vpc"] = [vpc.label, [subnet.label for subnet in vpc.subnets], len(addresses)]
at = addresses[0]
path = f"/linode/instances/{at.linode_id}/configs/{at.config_id}/interfaces/{at.interface_id}"
client.put(path, data={"ip_ranges": ["10.244.9.0/24"]})
seen["ranges"] = [ip.address_range for ip in client.load(VPC, vpc.id).ips if ip.address_range]

balancer = client.nodebalancers.create(region, label="web", client_conn_throttle=4, tags=["web", "shop"])
seen["balancer"] = [
    balancer.ipv4 is not None,
    balancer.hostname.split(".", 1)[1],
    balancer.client_conn_throttle,
    list(balancer.tags),
]
balancer.client_conn_throttle = 7
balancer.tags = ["shop"]
balancer.save()
again = client.load(NodeBalancer, balancer.id)
seen["changed"] = [again.client_conn_throttle, list(again.tags)]
seen["label taken"] = refused(lambda: client.nodebalancers.create(region, label="web"))

config = balancer.config_create(port=80, protocol="http", stickiness="table", check="http", check_path="/up")
seen["config"] = [config.port, config.protocol, config.algorithm, config.stickiness, config.check, config.check_path]
seen["port taken"] = refused(lambda: balancer.config_create(port=80, protocol="tcp"))
private = {linode.label: linode.ipv4[1] for linode in (first, second)}
node = config.node_create("node-0", f"{private['node-0']}:30080")
seen["nodes"] = [one.label for one in config.nodes]
balancer.config_rebuild(
    config.id,
    [
        {"id": node.id, "label": "node-0", "address": f"{private['node-0']}:30081"},
        {"label": "node-1", "address": f"{private['node-1']}:30081"},
    ],
    port=80,
    protocol="http",
    check="http",
    check_path="/up",
)
nodes = client.load(NodeBalancer, balancer.id).configs[0].nodes
seen["rebuilt"] = [[one.label for one in nodes], node.id in [one.id for one in nodes]]
seen["wrong address"] = refused(lambda: config.node_create("other", "203.0.113.1:80"))

rule = {
    "action": "ACCEPT",
    "label": "ACCEPT-web",
    "protocol": "TCP",
    "ports": "80",
    "addresses": {"ipv4": ["198.51.100.0/24"]},
}
rules = {"inbound": [rule], "inbound_policy": "DROP", "outbound": [], "outbound_policy": "ACCEPT"}
firewall = client.networking.firewall_create("web", rules, devices={"nodebalancers": [balancer.id]})
there = client.load(Firewall, firewall.id).get_rules()
inbound = there["inbound"][0]
seen["firewall"] = [there["inbound_policy"], inbound["protocol"], inbound["ports"], inbound["addresses"]["ipv4"]]
seen["devices"] = [device.entity.type for device in firewall.devices]
other = client.networking.firewall_create("other", rules)
seen["second firewall"] = refused(lambda: other.device_create(balancer.id, "nodebalancer"))

config.delete()
balancer.delete()
firewall.delete()
other.delete()
print(json.dumps(seen))
