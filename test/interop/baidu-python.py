# Baidu AI Cloud's own Python SDK (bce-python-sdk) through the life of a load balancer, an address, a route and a security group. Prints what it saw
# as JSON.
import json
import sys

from baidubce.auth.bce_credentials import BceCredentials
from baidubce.bce_client_configuration import BceClientConfiguration
from baidubce.exception import BceHttpClientError
from baidubce.retry.retry_policy import NoRetryPolicy
from baidubce.services.bcc.bcc_client import BccClient
from baidubce.services.bcc.bcc_model import SecurityGroupRuleModel
from baidubce.services.blb.blb_client import BlbClient
from baidubce.services.eip.eip_client import EipClient
from baidubce.services.eip.model import Billing
from baidubce.services.route.route_client import RouteClient
from baidubce.services.subnet.subnet_client import SubnetClient

endpoint, key, secret, vpc, subnet = sys.argv[1:]
seen = {}


def config(secret_key=secret):
    credentials = BceCredentials(key, secret_key)
    return BceClientConfiguration(credentials=credentials, endpoint=endpoint, retry_policy=NoRetryPolicy())


def refusal(call):
    """Status and code of a refusal."""
    try:
        call()
        return "nothing"
    except BceHttpClientError as error:
        return [error.last_error.status_code, error.last_error.code]


blb, eip, bcc = BlbClient(config()), EipClient(config()), BccClient(config())
routes, subnets = RouteClient(config()), SubnetClient(config())

seen["unauthorized"] = refusal(lambda: BlbClient(config("wrong")).describe_loadbalancers())
seen["subnet"] = subnets.get_subnet(subnet).subnet.subnet_type

page = bcc.list_instances(vpc_id=vpc, max_keys=2)
rest = bcc.list_instances(vpc_id=vpc, marker=page.next_marker)
seen["paged"] = [page.is_truncated, len(page.instances), len(rest.instances)]
nodes = [instance.id for instance in page.instances]
seen["instance"] = bcc.get_instance(nodes[0]).instance.status
seen["absent"] = refusal(lambda: bcc.get_instance("i-none"))

made = blb.create_loadbalancer(vpc, subnet, name="web", desc="from python", client_token="once")
again = blb.create_loadbalancer(vpc, subnet, name="web", desc="from python", client_token="once")
seen["token"] = made.blb_id == again.blb_id
seen["mismatch"] = refusal(lambda: blb.create_loadbalancer(vpc, subnet, name="other", client_token="once"))
found = blb.describe_loadbalancers(name="web", exactly_match=True).blb_list
seen["balancer"] = [len(found), found[0].status, found[0].desc]
blb.update_loadbalancer(made.blb_id, name="web/front", desc="changed")

blb.create_tcp_listener(made.blb_id, 80, 30080, "RoundRobin", health_check_interval=5)
blb.create_udp_listener(made.blb_id, 53, 30053, "Hash", health_check_string="ping")
seen["taken"] = refusal(lambda: blb.create_tcp_listener(made.blb_id, 80, 30081, "Hash"))
blb.update_tcp_listener(made.blb_id, 80, backend_port=30090)
tcp = blb.describe_tcp_listener(made.blb_id).listener_list[0]
seen["listener"] = [tcp.listener_port, tcp.backend_port, tcp.scheduler, tcp.health_check_interval, tcp.healthy_threshold]
seen["listeners"] = sorted(one.listener_type for one in blb.describe_all_listeners(made.blb_id).listener_list)

servers = [{"instanceId": node, "weight": 100} for node in nodes]
blb.add_backend_servers(made.blb_id, servers)
blb.update_backend_servers(made.blb_id, [{"instanceId": nodes[0], "weight": 50}])
blb.remove_backend_servers(made.blb_id, [nodes[1]])
backends = blb.describe_backend_servers(made.blb_id).backend_server_list
seen["backends"] = [[one.instance_id == nodes[0], one.weight] for one in backends]
detail = blb.describe_loadbalancer_detail(made.blb_id)
seen["detail"] = [detail.name, detail.desc, sorted(one.port for one in detail.listener)]

address = eip.create_eip(10, name="web", billing=Billing("Postpaid", "ByTraffic")).eip
eip.bind_eip(address, "BLB", made.blb_id)
eip.resize_eip(address, 20)
shown = eip.list_eips(eip=address).eip_list[0]
seen["eip"] = [shown.status, shown.bandwidth_in_mbps, shown.instance_id == made.blb_id]
seen["bound twice"] = refusal(lambda: eip.bind_eip(address, "BLB", made.blb_id))
seen["public"] = blb.describe_loadbalancer_detail(made.blb_id).public_ip == address
eip.unbind_eip(address)
eip.release_eip(address)

rule = SecurityGroupRuleModel(direction="ingress", protocol="tcp", portRange="80", sourceIp="10.0.0.0/8", ethertype="IPv4")
group = bcc.create_security_group("web", [rule], vpc_id=vpc, desc="from python").security_group_id
blb.bind_security_groups(made.blb_id, [group])
seen["group"] = [one.security_group_id == group for one in blb.describe_security_groups(made.blb_id).blb_security_groups]
seen["group in use"] = refusal(lambda: bcc.delete_security_group(group))
blb.unbind_security_groups(made.blb_id, [group])
bcc.delete_security_group(group)

table = routes.get_route(vpc_id=vpc)
made_rule = routes.create_route(table.route_table_id, "0.0.0.0/0", "10.244.1.0/24", "custom", "from python", next_hop_id=nodes[0])
seen["rule twice"] = refusal(
    lambda: routes.create_route(table.route_table_id, "0.0.0.0/0", "10.244.1.0/24", "custom", "x", next_hop_id=nodes[1])
)
seen["rules"] = [one.destination_address for one in routes.get_route(vpc_id=vpc).route_rules]
routes.delete_route(made_rule.route_rule_id)

blb.delete_listeners(made.blb_id, port_type_list=[{"port": 53, "type": "UDP"}])
seen["left"] = [one.listener_port for one in blb.describe_all_listeners(made.blb_id).listener_list]
blb.delete_loadbalancer(made.blb_id)
seen["deleted"] = refusal(lambda: blb.describe_loadbalancer_detail(made.blb_id))
print(json.dumps(seen))
