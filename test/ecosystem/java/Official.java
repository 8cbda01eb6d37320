// The official Java client: typed and generic calls, watches, informers, patches, server-side apply.
import com.google.gson.reflect.TypeToken;
import io.kubernetes.client.custom.V1Patch;
import io.kubernetes.client.informer.*;
import io.kubernetes.client.openapi.*;
import io.kubernetes.client.openapi.apis.*;
import io.kubernetes.client.openapi.models.*;
import io.kubernetes.client.util.*;
import io.kubernetes.client.util.generic.GenericKubernetesApi;
import java.util.*;
import java.util.concurrent.*;

public class Official {
  static final String namespace = "official";
  static int checks = 0;

  static void check(String what, boolean holds) {
    if (!holds) throw new IllegalStateException("not so: " + what);
    checks++;
  }

  static V1ConfigMap configMap(String name, String value) {
    return new V1ConfigMap().metadata(new V1ObjectMeta().name(name).namespace(namespace)).putDataItem("a", value);
  }

  static void objects(CoreV1Api core, ApiClient client) throws Exception {
    core.createNamespace(new V1Namespace().metadata(new V1ObjectMeta().name(namespace))).execute();
    check("create", core.createNamespacedConfigMap(namespace, configMap("one", "1")).execute().getMetadata().getUid() != null);
    var one = core.readNamespacedConfigMap("one", namespace).execute();
    check("replace", core.replaceNamespacedConfigMap("one", namespace, one.putDataItem("b", "2")).execute().getData().size() == 2);
    var patch = new V1Patch("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"data\":{\"c\":\"3\"}}");
    var applied = PatchUtils.patch(V1ConfigMap.class,
      () -> core.patchNamespacedConfigMap("one", namespace, patch).fieldManager("official").force(true).buildCall(null), V1Patch.PATCH_FORMAT_APPLY_YAML, client);
    check("server-side apply", applied.getData().size() == 3);
    for (int i = 0; i < 7; i++) core.createNamespacedConfigMap(namespace, configMap("page-" + i, "x")).execute();
    var page = core.listNamespacedConfigMap(namespace).limit(3).execute();
    check("page", page.getItems().size() == 3 && page.getMetadata().getContinue() != null);
    try {
      core.createNamespacedConfigMap(namespace, configMap("one", "1")).execute();
      check("a second create is refused", false);
    } catch (ApiException e) {
      check("conflict", e.getCode() == 409 && e.getResponseBody().contains("AlreadyExists"));
    }
    check("delete", core.deleteNamespacedConfigMap("page-0", namespace).execute().getStatus().equals("Success"));
    check("all pods", core.listPodForAllNamespaces().execute().getItems() != null);
    check("nodes", core.listNode().execute().getItems().size() == 2);
  }

  static void watches(CoreV1Api core, ApiClient client) throws Exception {
    var version = core.listNamespacedConfigMap(namespace).execute().getMetadata().getResourceVersion();
    var call = core.listNamespacedConfigMap(namespace).resourceVersion(version).watch(true).timeoutSeconds(30).buildCall(null);
    try (Watch<V1ConfigMap> watch = Watch.createWatch(client, call, new TypeToken<Watch.Response<V1ConfigMap>>() {}.getType())) {
      core.createNamespacedConfigMap(namespace, configMap("seen", "1")).execute();
      core.deleteNamespacedConfigMap("seen", namespace).execute();
      for (String type : List.of("ADDED", "DELETED")) {
        var event = watch.next();
        check("watch tells " + type, event.type.equals(type) && event.object.getMetadata().getName().equals("seen"));
      }
    }
  }

  static void informers(CoreV1Api core, ApiClient client) throws Exception {
    var events = new LinkedBlockingQueue<String>();
    var factory = new SharedInformerFactory(client);
    var informer = factory.sharedIndexInformerFor(
      (CallGeneratorParams params) -> core.listNamespacedConfigMap(namespace).resourceVersion(params.resourceVersion).timeoutSeconds(params.timeoutSeconds).watch(params.watch).buildCall(null),
      V1ConfigMap.class, V1ConfigMapList.class);
    informer.addEventHandler(new ResourceEventHandler<V1ConfigMap>() {
      public void onAdd(V1ConfigMap map) {
        events.add("add " + map.getMetadata().getName());
      }

      public void onUpdate(V1ConfigMap before, V1ConfigMap after) {
        events.add("update " + after.getMetadata().getName());
      }

      public void onDelete(V1ConfigMap map, boolean unknown) {
        events.add("delete " + map.getMetadata().getName());
      }
    });
    factory.startAllRegisteredInformers();
    for (int i = 0; i < 300 && !informer.hasSynced(); i++) Thread.sleep(100);
    check("informer syncs", informer.hasSynced() && informer.getIndexer().list().size() >= 7);
    core.createNamespacedConfigMap(namespace, configMap("informed", "1")).execute();
    boolean seen = false;
    for (String event = ""; !seen && event != null; event = events.poll(30, TimeUnit.SECONDS)) seen = event.equals("add informed");
    check("informer tells what is added", seen);
    factory.stopAllRegisteredInformers();
  }

  static void deployments(ApiClient client) throws Exception {
    var api = new GenericKubernetesApi<>(V1Deployment.class, V1DeploymentList.class, "apps", "v1", "deployments", client);
    var labels = Map.of("app", "web");
    var deployment = new V1Deployment().apiVersion("apps/v1").kind("Deployment").metadata(new V1ObjectMeta().name("web").namespace(namespace))
      .spec(new V1DeploymentSpec().replicas(2).selector(new V1LabelSelector().matchLabels(labels))
        .template(new V1PodTemplateSpec().metadata(new V1ObjectMeta().labels(labels)).spec(new V1PodSpec().addContainersItem(new V1Container().name("a").image("nginx")))));
    check("generic create", api.create(deployment).isSuccess());
    boolean ready = false;
    for (int i = 0; i < 600 && !ready; i++, Thread.sleep(100)) ready = Integer.valueOf(2).equals(api.get(namespace, "web").getObject().getStatus().getReadyReplicas());
    check("ready", ready);
    check("pods of the deployment", new CoreV1Api(client).listNamespacedPod(namespace).labelSelector("app=web").execute().getItems().size() == 2);
    check("generic delete", api.delete(namespace, "web").isSuccess());
  }

  public static void main(String[] args) throws Exception {
    var client = ClientBuilder.kubeconfig(KubeConfig.loadKubeConfig(new java.io.FileReader(System.getenv("KUBECONFIG")))).build();
    client.setReadTimeout(0);
    Configuration.setDefaultApiClient(client);
    var core = new CoreV1Api(client);
    check("version", new VersionApi(client).getCode().execute().getMinor().startsWith("36"));
    objects(core, client);
    watches(core, client);
    informers(core, client);
    deployments(client);
    core.deleteNamespace(namespace).execute();
    System.out.println("checks " + checks);
    System.exit(0);
  }
}
