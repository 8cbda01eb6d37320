# Google's own Python client (google-cloud-compute) through the life of two load balancers, a route and a firewall. Prints what it saw as JSON.
import json
import sys

from google.api_core import exceptions
from google.api_core.client_options import ClientOptions
from google.cloud import compute_v1 as gce
from google.oauth2.credentials import Credentials

url, token, project, region, zone = sys.argv[1:]
options = {"credentials": Credentials(token), "client_options": ClientOptions(api_endpoint=url), "transport": "rest"}
seen = {}


def client(kind):
    return getattr(gce, kind)(**options)


def done(operation):
    """Waits for it by the operations client of its place: the client's own futures ask Google, whatever the endpoint is. A wait may end early."""
    for _ in range(20):
        if operation.status == gce.Operation.Status.DONE:
            break
        if operation.zone:
            operation = client("ZoneOperationsClient").wait(project=project, zone=zone, operation=operation.name)
        elif operation.region:
            operation = client("RegionOperationsClient").wait(project=project, region=region, operation=operation.name)
        else:
            operation = client("GlobalOperationsClient").wait(project=project, operation=operation.name)
    assert operation.status == gce.Operation.Status.DONE, operation
    assert not operation.error.errors, operation


def refused(call):
    try:
        call()
        return "nothing"
    except exceptions.GoogleAPICallError as error:
        return f"{type(error).__name__} {error.code}"


at = f"projects/{project}"
instances = client("InstancesClient")
seen["instances"] = sorted(one.name for one in instances.list(project=project, zone=zone))
seen["filtered"] = [one.name for one in instances.list(request={"project": project, "zone": zone, "filter": 'name = "node-a"'})]
seen["paged"] = len(list(instances.list(request={"project": project, "zone": zone, "max_results": 1})))
node = instances.get(project=project, zone=zone, instance="node-a")
seen["node"] = [node.status, node.machine_type.split("/")[-1], list(node.tags.items), len(node.network_interfaces[0].network_i_p.split("."))]
seen["absent"] = refused(lambda: instances.get(project=project, zone=zone, instance="nobody"))
seen["zones"] = len(list(client("ZonesClient").list(project=project)))
seen["network"] = client("NetworksClient").get(project=project, network="default").auto_create_subnetworks

checks, pools = client("HealthChecksClient"), client("TargetPoolsClient")
pool = gce.TargetPool(name="pool", instances=[node.self_link], session_affinity="CLIENT_IP")
done(pools.insert_unary(project=project, region=region, target_pool_resource=pool))
reference = gce.InstanceReference(instance=f"{at}/zones/{zone}/instances/node-b")
body = gce.TargetPoolsAddInstanceRequest(instances=[reference])
done(pools.add_instance_unary(project=project, region=region, target_pool="pool", target_pools_add_instance_request_resource=body))
seen["pool"] = len(pools.get(project=project, region=region, target_pool="pool").instances)

addresses, rules = client("AddressesClient"), client("ForwardingRulesClient")
done(addresses.insert_unary(project=project, region=region, address_resource=gce.Address(name="front")))
front = addresses.get(project=project, region=region, address="front")
rule = gce.ForwardingRule(
    name="rule", I_p_address=front.address, I_p_protocol="TCP", port_range="80", target=f"{at}/regions/{region}/targetPools/pool"
)
done(rules.insert_unary(project=project, region=region, forwarding_rule_resource=rule))
seen["rule"] = rules.get(project=project, region=region, forwarding_rule="rule").port_range
seen["again"] = refused(lambda: rules.insert_unary(project=project, region=region, forwarding_rule_resource=rule))
seen["in use"] = refused(lambda: pools.delete_unary(project=project, region=region, target_pool="pool"))

groups, services = client("InstanceGroupsClient"), client("RegionBackendServicesClient")
done(groups.insert_unary(project=project, zone=zone, instance_group_resource=gce.InstanceGroup(name="group")))
members = gce.InstanceGroupsAddInstancesRequest(instances=[gce.InstanceReference(instance=node.self_link)])
done(groups.add_instances_unary(project=project, zone=zone, instance_group="group", instance_groups_add_instances_request_resource=members))
listed = groups.list_instances(
    project=project,
    zone=zone,
    instance_group="group",
    instance_groups_list_instances_request_resource=gce.InstanceGroupsListInstancesRequest(instance_state="ALL"),
)
seen["members"] = [one.instance.split("/")[-1] for one in listed]
check = gce.HealthCheck(name="check", type_="HTTP", http_health_check=gce.HTTPHealthCheck(port=10256, request_path="/healthz"))
done(checks.insert_unary(project=project, health_check_resource=check))
service = gce.BackendService(
    name="service",
    protocol="TCP",
    load_balancing_scheme="INTERNAL",
    health_checks=[f"{at}/global/healthChecks/check"],
    backends=[gce.Backend(group=f"{at}/zones/{zone}/instanceGroups/group")],
)
done(services.insert_unary(project=project, region=region, backend_service_resource=service))
made = services.get(project=project, region=region, backend_service="service")
made.session_affinity = "CLIENT_IP"
done(services.patch_unary(project=project, region=region, backend_service="service", backend_service_resource=made))
stale = refused(lambda: services.patch_unary(project=project, region=region, backend_service="service", backend_service_resource=made))
seen["service"] = [services.get(project=project, region=region, backend_service="service").session_affinity, stale]

firewalls, routes = client("FirewallsClient"), client("RoutesClient")
allowed = gce.Allowed(I_p_protocol="tcp", ports=["80", "443"])
firewall = gce.Firewall(name="web", network=f"{at}/global/networks/default", allowed=[allowed], source_ranges=["0.0.0.0/0"], target_tags=["nodes"])
done(firewalls.insert_unary(project=project, firewall_resource=firewall))
done(firewalls.patch_unary(project=project, firewall="web", firewall_resource=gce.Firewall(description="changed")))
changed = firewalls.get(project=project, firewall="web")
seen["firewall"] = [changed.priority, changed.direction, changed.description, list(changed.allowed[0].ports)]
route = gce.Route(name="pods", network=f"{at}/global/networks/default", dest_range="10.244.0.0/24", next_hop_instance=node.self_link)
done(routes.insert_unary(project=project, route_resource=route))
seen["routes"] = [one.dest_range for one in routes.list(request={"project": project, "filter": "name eq pods"})]

done(rules.delete_unary(project=project, region=region, forwarding_rule="rule"))
done(pools.delete_unary(project=project, region=region, target_pool="pool"))
done(services.delete_unary(project=project, region=region, backend_service="service"))
done(groups.delete_unary(project=project, zone=zone, instance_group="group"))
done(checks.delete_unary(project=project, health_check="check"))
done(firewalls.delete_unary(project=project, firewall="web"))
done(routes.delete_unary(project=project, route="pods"))
done(addresses.delete_unary(project=project, region=region, address="front"))
print(json.dumps(seen))
