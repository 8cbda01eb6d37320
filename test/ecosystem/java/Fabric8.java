// fabric8's client: resources, watches over WebSocket (its default), informers, waits, patches, server-side apply, custom resources, leader election.
import io.fabric8.kubernetes.api.model.*;
import io.fabric8.kubernetes.api.model.apps.*;
import io.fabric8.kubernetes.client.*;
import io.fabric8.kubernetes.client.dsl.base.*;
import io.fabric8.kubernetes.client.extended.leaderelection.*;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaseLock;
import io.fabric8.kubernetes.client.informers.*;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;

public class Fabric8 {
  static final String namespace = "fabric8";
  static int checks = 0;

  static void check(String what, boolean holds) {
    if (!holds) throw new IllegalStateException("not so: " + what);
    checks++;
  }

  static String next(BlockingQueue<String> events) throws InterruptedException {
    return String.valueOf(events.poll(30, TimeUnit.SECONDS));
  }

  static ConfigMap configMap(String name, String value) {
    return new ConfigMapBuilder().withNewMetadata().withName(name).withNamespace(namespace).endMetadata().addToData("a", value).build();
  }

  static void objects(KubernetesClient client) {
    client.resource(new NamespaceBuilder().withNewMetadata().withName(namespace).endMetadata().build()).create();
    var maps = client.configMaps().inNamespace(namespace);
    check("create", maps.resource(configMap("one", "1")).create().getMetadata().getUid() != null);
    check("edit", maps.withName("one").edit(m -> new ConfigMapBuilder(m).addToData("b", "2").build()).getData().size() == 2);
    check("server-side apply", maps.resource(configMap("one", "3")).forceConflicts().serverSideApply().getData().get("a").equals("3"));
    var patched = maps.withName("one").patch(PatchContext.of(PatchType.JSON_MERGE), "{\"data\":{\"c\":\"4\"}}");
    check("patch", patched.getData().get("c").equals("4"));
    for (int i = 0; i < 7; i++) maps.resource(configMap("page-" + i, "x")).create();
    var page = maps.list(new ListOptionsBuilder().withLimit(3L).build());
    check("page", page.getItems().size() == 3 && page.getMetadata().getContinue() != null);
    try {
      maps.resource(configMap("one", "1")).create();
      check("a second create is refused", false);
    } catch (KubernetesClientException e) {
      check("conflict", e.getCode() == 409 && e.getStatus().getReason().equals("AlreadyExists"));
    }
    check("delete", maps.withName("page-0").delete().size() == 1);
    check("gone", maps.withName("page-0").get() == null);
  }

  static void watches(KubernetesClient client) throws Exception {
    var maps = client.configMaps().inNamespace(namespace);
    var events = new LinkedBlockingQueue<String>();
    var watcher = new Watcher<ConfigMap>() {
      public void eventReceived(Action action, ConfigMap map) {
        events.add(action + " " + map.getMetadata().getName());
      }

      public void onClose(WatcherException cause) {
        events.add("closed " + cause);
      }
    };
    var version = maps.list().getMetadata().getResourceVersion();
    try (var watch = maps.watch(new ListOptionsBuilder().withResourceVersion(version).build(), watcher)) {
      maps.resource(configMap("seen", "1")).create();
      check("watch tells what is added", next(events).equals("ADDED seen"));
      maps.withName("seen").edit(m -> new ConfigMapBuilder(m).addToData("a", "2").build());
      check("watch tells what changes", next(events).equals("MODIFIED seen"));
      maps.withName("seen").delete();
      check("watch tells what is gone", next(events).equals("DELETED seen"));
    }
    var informed = new LinkedBlockingQueue<String>();
    try (var informer = maps.inform(new ResourceEventHandler<ConfigMap>() {
      public void onAdd(ConfigMap map) {
        informed.add("add " + map.getMetadata().getName());
      }

      public void onUpdate(ConfigMap before, ConfigMap after) {
        informed.add("update " + after.getMetadata().getName());
      }

      public void onDelete(ConfigMap map, boolean unknown) {
        informed.add("delete " + map.getMetadata().getName());
      }
    })) {
      check("informer has what there was", informer.getStore().list().size() >= 7 && informer.isWatching());
      informed.clear();
      maps.resource(configMap("informed", "1")).create();
      check("informer tells what is added", next(informed).equals("add informed"));
      maps.withName("informed").delete();
      check("informer tells what is gone", next(informed).equals("delete informed"));
    }
  }

  static void deployments(KubernetesClient client) {
    var deployment = new DeploymentBuilder().withNewMetadata().withName("web").withNamespace(namespace).endMetadata()
      .withNewSpec().withReplicas(2).withNewSelector().addToMatchLabels("app", "web").endSelector()
      .withNewTemplate().withNewMetadata().addToLabels("app", "web").endMetadata()
      .withNewSpec().addNewContainer().withName("a").withImage("nginx:1").endContainer().endSpec().endTemplate().endSpec().build();
    var web = client.apps().deployments().inNamespace(namespace).resource(deployment);
    web.create();
    check("waits until ready", web.waitUntilReady(60, TimeUnit.SECONDS).getStatus().getReadyReplicas() == 2);
    check("scale", web.scale(3).getSpec().getReplicas() == 3);
    var image = "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"a\",\"image\":\"nginx:2\"}]}}}}";
    var changed = web.patch(PatchContext.of(PatchType.STRATEGIC_MERGE), image);
    check("strategic merge patch", changed.getSpec().getTemplate().getSpec().getContainers().get(0).getImage().equals("nginx:2"));
    var pods = client.pods().inNamespace(namespace).withLabel("app", "web");
    check("pods", pods.list().getItems().size() >= 3);
    web.delete();
    pods.waitUntilCondition(Objects::isNull, 60, TimeUnit.SECONDS);
  }

  static final String definition = """
    apiVersion: apiextensions.k8s.io/v1
    kind: CustomResourceDefinition
    metadata: {name: sails.fabric8.example.com}
    spec:
      group: fabric8.example.com
      scope: Namespaced
      names: {plural: sails, singular: sail, kind: Sail}
      versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {colour: {type: string}}}}}}}]
    """;

  static void customResources(KubernetesClient client) {
    client.load(new java.io.ByteArrayInputStream(definition.getBytes())).create();
    client.apiextensions().v1().customResourceDefinitions().withName("sails.fabric8.example.com").waitUntilCondition(
      crd -> crd != null && crd.getStatus() != null && crd.getStatus().getConditions() != null && crd.getStatus().getConditions().stream().anyMatch(c -> c.getType().equals("Established")), 30, TimeUnit.SECONDS);
    var context = new ResourceDefinitionContext.Builder().withGroup("fabric8.example.com").withVersion("v1").withKind("Sail").withPlural("sails").withNamespaced(true).build();
    var sails = client.genericKubernetesResources(context).inNamespace(namespace);
    var sail = new GenericKubernetesResourceBuilder().withApiVersion("fabric8.example.com/v1").withKind("Sail").withNewMetadata().withName("red").endMetadata()
      .addToAdditionalProperties("spec", Map.of("colour", "red")).build();
    check("custom resource", sails.resource(sail).create().get("spec", "colour").equals("red"));
    check("custom resources", sails.list().getItems().size() == 1);
    client.load(new java.io.ByteArrayInputStream(definition.getBytes())).delete();
  }

  static void leads(KubernetesClient client) throws Exception {
    var leads = new CountDownLatch(1);
    var config = new LeaderElectionConfigBuilder().withName("election").withReleaseOnCancel(true)
      .withLeaseDuration(Duration.ofSeconds(15)).withRenewDeadline(Duration.ofSeconds(10)).withRetryPeriod(Duration.ofSeconds(1))
      .withLock(new LeaseLock(namespace, "leader", "me"))
      .withLeaderCallbacks(new LeaderCallbacks(leads::countDown, () -> {}, identity -> {})).build();
    var election = client.leaderElector().withConfig(config).build().start();
    check("leads", leads.await(30, TimeUnit.SECONDS));
    election.cancel(true);
  }

  public static void main(String[] args) throws Exception {
    try (var client = new KubernetesClientBuilder().build()) {
      check("watches go over WebSocket", !client.getConfiguration().isOnlyHttpWatches());
      check("version", client.getKubernetesVersion().getMinor().startsWith("36"));
      objects(client);
      watches(client);
      deployments(client);
      customResources(client);
      leads(client);
      client.namespaces().withName(namespace).delete();
    }
    System.out.println("checks " + checks);
  }
}
