# Azure's own Python clients (azure-mgmt-network, azure-mgmt-compute) through the life of a load balancer. Prints what they saw as JSON.
import json
import sys

from azure.core.exceptions import HttpResponseError
from azure.core.pipeline.policies import SansIOHTTPPolicy
from azure.mgmt.compute import ComputeManagementClient
from azure.mgmt.network import NetworkManagementClient

url, token, subscription, group, location = sys.argv[1:]


class Token:
    def get_token(self, *scopes, **kwargs):
        raise RuntimeError("not asked")


class Bearer(SansIOHTTPPolicy):
    """Azure's own policy sends no token without TLS."""

    def on_request(self, request):
        request.http_request.headers["Authorization"] = "Bearer " + token


options = dict(base_url=url, authentication_policy=Bearer(), polling_interval=0.05, retry_total=0)
network = NetworkManagementClient(Token(), subscription, **options)
compute = ComputeManagementClient(Token(), subscription, **options)
seen = {}


def refused(call):
    try:
        call()
        return "nothing"
    except HttpResponseError as error:
        return [error.status_code, error.error.code if error.error else None]


def put(client, name, body, **more):
    return client.begin_create_or_update(group, name, body, **more).result()


machines = list(compute.virtual_machines.list(group))
seen["paged"] = len(machines)
view = compute.virtual_machines.get(group, "node-0", expand="instanceView")
seen["node"] = [view.hardware_profile.vm_size, view.zones, [status.code for status in view.instance_view.statuses]]
members = list(compute.virtual_machine_scale_set_vms.list(group, "workers"))
seen["members"] = [member.os_profile.computer_name for member in members]
seen["absent"] = refused(lambda: network.load_balancers.get(group, "web"))

ip = put(network.public_ip_addresses, "web-ip", {"location": location, "sku": {"name": "Standard"}, "properties": {"publicIPAllocationMethod": "Static"}})
seen["ip"] = [ip.ip_address is not None, ip.provisioning_state]
base = f"/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.Network/loadBalancers/web"
body = {
    "location": location,
    "sku": {"name": "Standard"},
    "properties": {
        "frontendIPConfigurations": [{"name": "front", "properties": {"publicIPAddress": {"id": ip.id}}}],
        "backendAddressPools": [{"name": "pool"}],
        "probes": [{"name": "probe", "properties": {"protocol": "Tcp", "port": 30080, "intervalInSeconds": 5, "probeThreshold": 2}}],
        "loadBalancingRules": [
            {
                "name": "http",
                "properties": {
                    "protocol": "Tcp",
                    "frontendPort": 80,
                    "backendPort": 80,
                    "enableFloatingIP": True,
                    "idleTimeoutInMinutes": 4,
                    "frontendIPConfiguration": {"id": base + "/frontendIPConfigurations/front"},
                    "backendAddressPool": {"id": base + "/backendAddressPools/pool"},
                    "probe": {"id": base + "/probes/probe"},
                },
            }
        ],
    },
}
balancer = put(network.load_balancers, "web", body)
seen["balancer"] = [balancer.provisioning_state, balancer.load_balancing_rules[0].frontend_port, balancer.probes[0].port]
seen["old version"] = refused(lambda: put(network.load_balancers, "web", body, headers={"If-Match": 'W/"0"'}))
seen["there already"] = refused(lambda: put(network.load_balancers, "web", body, headers={"If-None-Match": "*"}))
wrong = json.loads(json.dumps(body))
wrong["properties"]["loadBalancingRules"][0]["properties"]["probe"]["id"] = base + "/probes/none"
seen["wrong reference"] = refused(lambda: put(network.load_balancers, "web", wrong))
seen["ip in use"] = refused(lambda: network.public_ip_addresses.begin_delete(group, "web-ip").result())

card = network.network_interfaces.get(group, "node-0-nic")
card.ip_configurations[0].load_balancer_backend_address_pools = [{"id": base + "/backendAddressPools/pool"}]
put(network.network_interfaces, "node-0-nic", card)
pool = network.load_balancers.get(group, "web").backend_address_pools[0]
seen["pool"] = [config.id.split("/")[-3] for config in pool.backend_ip_configurations]
seen["in use"] = refused(lambda: network.load_balancers.begin_delete(group, "web").result())
card = network.network_interfaces.get(group, "node-0-nic")
card.ip_configurations[0].load_balancer_backend_address_pools = []
put(network.network_interfaces, "node-0-nic", card)


def rule(name, priority):
    properties = {
        "priority": priority,
        "direction": "Inbound",
        "access": "Allow",
        "protocol": "Tcp",
        "sourceAddressPrefix": "Internet",
        "sourcePortRange": "*",
        "destinationAddressPrefix": ip.ip_address,
        "destinationPortRange": "80",
    }
    return {"name": name, "properties": properties}


nsg = put(network.network_security_groups, "nsg", {"location": location, "properties": {"securityRules": [rule("a", 500)]}})
seen["rules"] = [one.priority for one in nsg.security_rules]
twice = {"location": location, "properties": {"securityRules": [rule("a", 500), rule("b", 500)]}}
seen["same priority"] = refused(lambda: put(network.network_security_groups, "nsg", twice))
hop = {"addressPrefix": "10.244.1.0/24", "nextHopType": "VirtualAppliance", "nextHopIpAddress": "10.224.0.4"}
table = put(network.route_tables, "routes", {"location": location, "properties": {"routes": [{"name": "node-0", "properties": hop}]}})
seen["routes"] = [route.next_hop_ip_address for route in table.routes]

network.load_balancers.begin_delete(group, "web").result()
network.public_ip_addresses.begin_delete(group, "web-ip").result()
seen["left"] = [len(list(network.load_balancers.list(group))), len(list(network.public_ip_addresses.list(group)))]
print(json.dumps(seen))
