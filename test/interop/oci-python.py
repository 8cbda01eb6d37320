# OCI's own Python SDK through the life of instances, rules, a load balancer and a network load balancer. Prints what it saw as JSON.
import json
import sys

import oci

url, key_file, user, tenancy, fingerprint, compartment, vcn, subnet, security_list = sys.argv[1:]
config = {"user": user, "tenancy": tenancy, "fingerprint": fingerprint, "key_file": key_file, "region": "us-phoenix-1"}
none = oci.retry.NoneRetryStrategy()


def client(kind, version):
    made = kind(config, retry_strategy=none)
    made.base_client.endpoint = url + "/" + version
    return made


compute = client(oci.core.ComputeClient, "20160918")
network = client(oci.core.VirtualNetworkClient, "20160918")
lb = client(oci.load_balancer.LoadBalancerClient, "20170115")
nlb = client(oci.network_load_balancer.NetworkLoadBalancerClient, "20200501")
seen = {}


def refused(call):
    try:
        call()
        return "nothing"
    except oci.exceptions.ServiceError as error:
        return [error.status, error.code]


instances = oci.pagination.list_call_get_all_results(compute.list_instances, compartment, limit=10).data
seen["paged"] = len(instances)
[node] = compute.list_instances(compartment, display_name="node-7").data
seen["node"] = [node.lifecycle_state, node.shape, node.availability_domain, node.fault_domain]
[attachment] = compute.list_vnic_attachments(compartment, instance_id=node.id).data
vnic = network.get_vnic(attachment.vnic_id).data
seen["vnic"] = [vnic.is_primary, vnic.hostname_label]
seen["absent"] = refused(lambda: compute.get_instance("ocid1.instance.oc1.phx.none"))
wrong = dict(config, fingerprint=":".join(["00"] * 16))
stranger = oci.core.ComputeClient(wrong, retry_strategy=none)
stranger.base_client.endpoint = url + "/20160918"
seen["stranger"] = refused(lambda: stranger.list_instances(compartment))

rules = network.get_security_list(security_list)
ports = oci.core.models.TcpOptions(destination_port_range=oci.core.models.PortRange(min=80, max=80))
rule = oci.core.models.IngressSecurityRule(protocol="6", source="198.51.100.0/24", tcp_options=ports, description="web")
details = oci.core.models.UpdateSecurityListDetails(ingress_security_rules=[rule])
written = network.update_security_list(security_list, details, if_match=rules.headers["etag"]).data
seen["rule"] = [written.ingress_security_rules[0].source, written.ingress_security_rules[0].tcp_options.destination_port_range.min]
seen["old etag"] = refused(lambda: network.update_security_list(security_list, details, if_match=rules.headers["etag"]))
network.update_security_list(security_list, oci.core.models.UpdateSecurityListDetails(ingress_security_rules=[]))

group = network.create_network_security_group(
    oci.core.models.CreateNetworkSecurityGroupDetails(compartment_id=compartment, vcn_id=vcn, display_name="web")
).data
added = network.add_network_security_group_security_rules(
    group.id,
    oci.core.models.AddNetworkSecurityGroupSecurityRulesDetails(
        security_rules=[oci.core.models.AddSecurityRuleDetails(direction="INGRESS", protocol="6", source="0.0.0.0/0", tcp_options=ports)]
    ),
).data
seen["group rules"] = [len(added.security_rules), len(network.list_network_security_group_security_rules(group.id).data)]


def done(work_requests, work_request):
    """The work request once it has ended, by the SDK's own waiter."""
    field = "lifecycle_state" if work_requests is lb else "status"
    ended = oci.wait_until(work_requests, work_requests.get_work_request(work_request), evaluate_response=lambda r: getattr(r.data, field) in ["SUCCEEDED", "FAILED"])
    return ended.data


m = oci.load_balancer.models
backend_set = m.BackendSetDetails(
    policy="ROUND_ROBIN",
    health_checker=m.HealthCheckerDetails(protocol="HTTP", port=10256, url_path="/healthz"),
    backends=[m.BackendDetails(ip_address=vnic.private_ip, port=30080)],
)
create = m.CreateLoadBalancerDetails(
    compartment_id=compartment,
    display_name="web",
    shape_name="flexible",
    shape_details=m.ShapeDetails(minimum_bandwidth_in_mbps=10, maximum_bandwidth_in_mbps=20),
    subnet_ids=[subnet],
    backend_sets={"TCP-80": backend_set},
    listeners={"TCP-80": m.ListenerDetails(default_backend_set_name="TCP-80", port=80, protocol="TCP")},
    network_security_group_ids=[group.id],
)
first = lb.create_load_balancer(create, opc_retry_token="once").headers["opc-work-request-id"]
seen["once"] = first == lb.create_load_balancer(create, opc_retry_token="once").headers["opc-work-request-id"]
balancer = lb.get_load_balancer(done(lb, first).load_balancer_id).data
seen["balancer"] = [balancer.lifecycle_state, balancer.shape_details.maximum_bandwidth_in_mbps, balancer.backend_sets["TCP-80"].backends[0].name == vnic.private_ip + ":30080"]
seen["group in use"] = refused(lambda: network.delete_network_security_group(group.id))
taken = m.CreateListenerDetails(name="other", default_backend_set_name="TCP-80", port=80, protocol="TCP")
seen["port taken"] = refused(lambda: lb.create_listener(taken, balancer.id))
extra = m.CreateListenerDetails(name="TCP-443", default_backend_set_name="TCP-80", port=443, protocol="TCP")
work = lb.create_listener(extra, balancer.id).headers["opc-work-request-id"]
seen["busy"] = refused(lambda: lb.delete_listener(balancer.id, "TCP-80"))
seen["listener"] = done(lb, work).lifecycle_state
seen["listeners"] = sorted(lb.get_load_balancer(balancer.id).data.listeners)
done(lb, lb.delete_load_balancer(balancer.id).headers["opc-work-request-id"])
seen["used token"] = refused(lambda: lb.create_load_balancer(create, opc_retry_token="once"))

n = oci.network_load_balancer.models
made = nlb.create_network_load_balancer(
    n.CreateNetworkLoadBalancerDetails(
        compartment_id=compartment,
        display_name="dns",
        subnet_id=subnet,
        backend_sets={
            "UDP-53": n.BackendSetDetails(
                policy="FIVE_TUPLE",
                health_checker=n.HealthChecker(protocol="HTTP", port=10256, url_path="/healthz"),
                backends=[n.Backend(target_id=node.id, ip_address=vnic.private_ip, port=30053)],
            )
        },
        listeners={"UDP-53": n.ListenerDetails(name="UDP-53", default_backend_set_name="UDP-53", port=53, protocol="UDP")},
    )
)
seen["nlb work"] = done(nlb, made.headers["opc-work-request-id"]).status
seen["nlb"] = [one.lifecycle_state for one in nlb.list_network_load_balancers(compartment, display_name="dns").data.items]
seen["nlb addresses"] = sorted(address.is_public for address in nlb.get_network_load_balancer(made.data.id).data.ip_addresses)
done(nlb, nlb.delete_network_load_balancer(made.data.id).headers["opc-work-request-id"])
network.delete_network_security_group(group.id)
print(json.dumps(seen))
